#include "perf/support/copy_time.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "perf/support/device_data.hpp"
#include "perf/support/launch.hpp"

namespace weft::perf {
namespace {

constexpr double kTryMicroseconds = 300.0;
constexpr std::int64_t kPacket = 16;  // CopyKernel::Packet
// Up to a multiple of `unit`, in units.
std::int64_t Units(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit;
}

}  // namespace

absl::StatusOr<CopyTime> CopyTime::Create(std::int64_t reads, std::int64_t writes,
                                          int multiprocessors, const Stopwatch& watch,
                                          double sample_us) {
  CopyTime made;
  const int sets = BufferSets(reads + writes);
  constexpr std::int64_t kAligned = 256;  // of a set
  const std::int64_t read = Units(reads, kAligned) * kAligned;
  const std::int64_t written = Units(writes, kAligned) * kAligned;
  WEFT_LET(made.src_, DeviceBuffer::Create(sets * read));
  WEFT_LET(made.dst_, DeviceBuffer::Create(sets * written));
  const cudaStream_t stream = watch.stream();
  const auto* const src = made.src_.as<std::int8_t>();
  auto* const dst = made.dst_.as<std::int8_t>();
  WEFT_TRY(FillPlanar(made.src_.as<std::int8_t>(), sets * read, 1, stream));

  double least = 0.0;
  const auto consider = [&](std::string name, std::function<absl::Status(int)> enqueue) {
    const absl::StatusOr<double> us = watch.Short(enqueue, sets, kTryMicroseconds);
    if (us.ok() && (least == 0.0 || *us < least)) {
      least = *us;
      made.name_ = std::move(name);
      made.contestant_.enqueue = std::move(enqueue);
    }
    return us.status();
  };
  // No more blocks than have something to do.
  const auto all = static_cast<int>(std::min<std::int64_t>(
      Units(std::max(reads, writes), kPacket * kDataThreads), 32 * multiprocessors));
  int before = 0;
  for (const int each : {1, 2, 4, 8, 16, 32}) {
    const int blocks = std::min(each * multiprocessors, all);
    if (blocks == before) continue;
    before = blocks;
    WEFT_TRY(consider(absl::StrCat("copy of ", blocks, " blocks"), [=](int set) {
      const CopyParams params{src + set * read, dst + set * written, Units(reads, kPacket),
                              Units(writes, kPacket), blocks};
      return LaunchStatus(internal::Launch(params, stream), "copy");
    }));
  }
  if (reads == writes) {
    WEFT_TRY(consider("cudaMemcpyAsync", [=](int set) {
      return CudaStatus(cudaMemcpyAsync(dst + set * written, src + set * read, reads,
                                        cudaMemcpyDeviceToDevice, stream),
                        "copy");
    }));
  }
  WEFT_TRY(watch.Prepare(made.contestant_, sets, sample_us));
  return made;
}

}  // namespace weft::perf
