#include "perf/support/device_data.hpp"

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/support/cuda.hpp"
#include "perf/support/data_launch.hpp"
#include "perf/support/statistics.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {
namespace {

constexpr int kBlocks = 1056;  // 8 for each of 132 multiprocessors

absl::Status Launched(const arch::LaunchResult& result, const char* what) {
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", result.message));
}

absl::StatusOr<double> MedianTime(Stream stream, const std::function<absl::Status()>& work) {
  CudaTimer timer;
  if (absl::Status s = timer.Init(); !s.ok()) return s;
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    const absl::StatusOr<double> time = timer.Time(stream, work);
    if (!time.ok()) return time.status();
    if (i >= 3) times.push_back(*time);
  }
  return Quantile(times, 0.5);
}

}  // namespace

absl::Status FillPlanar(std::int8_t* dst, std::int64_t count, std::uint64_t seed, Stream stream) {
  return Launched(internal::Launch(FillPlanarParams{dst, count, seed, kBlocks}, stream),
                  "fill a tensor");
}

absl::StatusOr<Differences> Compare(const std::int8_t* got, const std::int8_t* want,
                                    std::int64_t count, Stream stream) {
  constexpr int kParts = kBlocks * internal::kDataThreads;
  absl::StatusOr<DeviceBuffer> parts = DeviceBuffer::Create(kParts * sizeof(Differences));
  if (!parts.ok()) return parts.status();
  const CompareParams params{got, want, count, parts->as<Differences>(), kBlocks};
  if (absl::Status s = Launched(internal::Launch(params, stream), "compare"); !s.ok()) return s;
  const absl::StatusOr<std::vector<Differences>> found = parts->Read<Differences>();
  if (!found.ok()) return found.status();
  Differences all;
  for (const Differences& part : *found) {
    all.count += part.count;
    all.largest = std::max(all.largest, part.largest);
  }
  return all;
}

absl::StatusOr<Ceilings> MeasureCeilings(Stream stream) {
  Ceilings ceilings;
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  {
    const absl::StatusOr<DeviceBuffer> from = DeviceBuffer::Create(kBytes);
    if (!from.ok()) return from.status();
    const absl::StatusOr<DeviceBuffer> to = DeviceBuffer::Create(kBytes);
    if (!to.ok()) return to.status();
    if (absl::Status s = FillPlanar(from->as<std::int8_t>(), kBytes, 1, stream); !s.ok()) return s;
    const absl::StatusOr<double> time = MedianTime(stream, [&] {
      return CudaStatus(
          cudaMemcpyAsync(to->data(), from->data(), kBytes, cudaMemcpyDeviceToDevice, stream),
          "copy");
    });
    if (!time.ok()) return time.status();
    ceilings.bytes_per_us = 2.0 * kBytes / *time;
  }
  const arch::DeviceQuery device = arch::QueryDevice();
  if (!device.result.ok()) return Launched(device.result, "device query");
  const int blocks = device.limits.sm_count * 8;
  constexpr int kRounds = 512;
  const std::int64_t threads = std::int64_t{blocks} * internal::kDataThreads;
  const absl::StatusOr<DeviceBuffer> sink = DeviceBuffer::Create(threads * 4);
  if (!sink.ok()) return sink.status();
  const Dp4aParams params{0x7F80A55Au, 0x12F4C68Bu, kRounds, sink->as<std::int32_t>()};
  const absl::StatusOr<double> time = MedianTime(
      stream, [&] { return Launched(internal::Launch(params, blocks, stream), "dp4a"); });
  if (!time.ok()) return time.status();
  ceilings.macs_per_us = 4.0 * threads * kRounds * internal::kDp4aPerRound / *time;
  return ceilings;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
