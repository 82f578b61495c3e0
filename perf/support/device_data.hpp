// Random tensors on the GPU, comparisons there, and the GPU's ceilings.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"
#include "perf/support/data_kernels.hpp"
#include "perf/support/floor.hpp"
#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::perf {

// Internal, with `what` before the launch's own words.
absl::Status LaunchStatus(const arch::LaunchResult& result, const char* what);

// dst[i] = RandomInt8(seed, i), i < count. GPU address; enqueued on `stream`.
absl::Status FillPlanar(std::int8_t* dst, std::int64_t count, std::uint64_t seed, Stream stream);

// The differences of the first `count` elements. Waits for the stream.
absl::StatusOr<Differences> Compare(const std::int8_t* got, const std::int8_t* want,
                                    std::int64_t count, Stream stream);

// What enqueue(0) writes to `dst`, whose bytes are all `before` until then, in a buffer of its own.
absl::StatusOr<DeviceBuffer> CopyOf(const DeviceBuffer& dst, int before,
                                    const std::function<absl::Status(int set)>& enqueue,
                                    Stream stream);
// How many bytes of `dst` are others than those of `want` after the same.
absl::StatusOr<std::int64_t> WrongBytes(const DeviceBuffer& dst, int before,
                                        const std::function<absl::Status(int set)>& enqueue,
                                        const DeviceBuffer& want, Stream stream);

// Measures a large device-to-device copy and a kernel of nothing but dp4a; under 0.1 s.
absl::StatusOr<Ceilings> MeasureCeilings(Stream stream);

}  // namespace weft::perf
