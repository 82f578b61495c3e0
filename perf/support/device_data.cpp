#include "perf/support/device_data.hpp"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/support/launch.hpp"
#include "perf/support/statistics.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {
namespace {

absl::StatusOr<double> MedianTime(Stream stream, const std::function<absl::Status()>& work) {
  CudaTimer timer;
  WEFT_TRY(timer.Init());
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    WEFT_LET(const double time, timer.Time(stream, work));
    if (i >= 3) times.push_back(time);
  }
  return Quantile(times, 0.5);
}

}  // namespace

absl::Status LaunchStatus(const arch::LaunchResult& result, const char* what) {
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", result.message));
}

absl::Status FillPlanar(std::int8_t* dst, std::int64_t count, std::uint64_t seed, Stream stream) {
  return LaunchStatus(internal::Launch(FillPlanarParams{dst, count, seed}, stream),
                      "fill a tensor");
}

absl::StatusOr<Differences> Compare(const std::int8_t* got, const std::int8_t* want,
                                    std::int64_t count, Stream stream) {
  constexpr int kParts = internal::kBlocks * kDataThreads;
  WEFT_LET(DeviceBuffer parts, DeviceBuffer::Create(kParts * sizeof(Differences)));
  const CompareParams params{got, want, count, parts.as<Differences>()};
  WEFT_TRY(LaunchStatus(internal::Launch(params, stream), "compare"));
  WEFT_LET(const std::vector<Differences> found, parts.Read<Differences>());
  Differences all;
  for (const Differences& part : found) {
    all.count += part.count;
    all.largest = std::max(all.largest, part.largest);
  }
  return all;
}

absl::StatusOr<DeviceBuffer> CopyOf(const DeviceBuffer& dst, int before,
                                    const std::function<absl::Status(int set)>& enqueue,
                                    Stream stream) {
  WEFT_LET(DeviceBuffer copy, DeviceBuffer::Create(dst.bytes()));
  WEFT_TRY(dst.Fill(before));
  WEFT_TRY(enqueue(0));
  WEFT_TRY(CudaStatus(
      cudaMemcpyAsync(copy.data(), dst.data(), dst.bytes(), cudaMemcpyDefault, stream), "copy"));
  return copy;
}

absl::StatusOr<std::int64_t> WrongBytes(const DeviceBuffer& dst, int before,
                                        const std::function<absl::Status(int set)>& enqueue,
                                        const DeviceBuffer& want, Stream stream) {
  WEFT_TRY(dst.Fill(before));
  WEFT_TRY(enqueue(0));
  WEFT_LET(const Differences found,
           Compare(dst.as<std::int8_t>(), want.as<std::int8_t>(), want.bytes(), stream));
  return found.count;
}

absl::StatusOr<Ceilings> MeasureCeilings(Stream stream) {
  Ceilings ceilings;
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  {
    WEFT_LET(const DeviceBuffer from, DeviceBuffer::Create(kBytes));
    WEFT_LET(const DeviceBuffer to, DeviceBuffer::Create(kBytes));
    WEFT_TRY(FillPlanar(from.as<std::int8_t>(), kBytes, 1, stream));
    WEFT_LET(const double time, MedianTime(stream, [&] {
               return CudaStatus(cudaMemcpyAsync(to.data(), from.data(), kBytes,
                                                 cudaMemcpyDeviceToDevice, stream),
                                 "copy");
             }));
    ceilings.bytes_per_us = 2.0 * kBytes / time;
  }
  const arch::DeviceQuery device = arch::QueryDevice();
  WEFT_TRY(LaunchStatus(device.result, "device query"));
  const int blocks = device.limits.sm_count * 8;
  constexpr int kRounds = 512;
  const std::int64_t threads = std::int64_t{blocks} * kDataThreads;
  WEFT_LET(const DeviceBuffer sink, DeviceBuffer::Create(threads * 4));
  const Dp4aParams params{0x7F80A55Au, 0x12F4C68Bu, kRounds, sink.as<std::int32_t>()};
  WEFT_LET(const double time, MedianTime(stream, [&] {
             return LaunchStatus(internal::Launch(params, blocks, stream), "dp4a");
           }));
  ceilings.macs_per_us = 4.0 * threads * kRounds * kDp4aChains * kDp4aUnroll / time;
  return ceilings;
}

}  // namespace weft::perf
