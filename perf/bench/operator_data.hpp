// What convolutions and deconvolutions over NCxHWx<32> read and write when they are measured.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"
#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

struct OperatorData {
  static constexpr float kBias = 3.0f;
  // Of an epilogue with an OutputScale: a step of its output, and in real values what is a step elsewhere.
  static constexpr float kOutputScale = 1.0f / 16.0f;
  static constexpr std::uint64_t kResidualSeed = 77;
  // Zero points of the source, and of output channel k's filter: -2 to 2.
  static constexpr std::int32_t kSourceZero = 3;
  static constexpr std::int32_t FilterZero(std::int64_t k) {
    return static_cast<std::int32_t>(k % 5) - 2;
  }
  static constexpr float Slope(std::int64_t k) { return 0.125f * static_cast<float>(k % 7); }
  // Of a SourceFunctor, for each channel.
  static constexpr float SourceScale(std::int64_t c) {
    return 0.5f + 0.125f * static_cast<float>(c % 5);
  }
  static constexpr float SourceOffset(std::int64_t c) { return static_cast<float>(c % 7) - 3.0f; }

  struct Shape {
    TensorExtents src, dst;
    std::int64_t filter_bytes = 0;  // as far as they count for how many sets pass the L2
    float alpha = 1.0f;             // the scale of the sums
    bool epilogues = false;         // whether what only further epilogues read and write is there
  };

  // One run's; what an operator does not read or write it leaves alone.
  struct Set {
    DeviceBuffer src, dst;
    DeviceBuffer wide;  // a float for each output: a copy's, or where those of more than a byte go
    DeviceBuffer residual;  // the same in every set
  };

  // The buffers of as many sets as pass the L2.
  static absl::StatusOr<OperatorData> Create(const Shape& shape, Stream stream);

  int count() const { return static_cast<int>(sets.size()); }

  TensorExtents src_extents, dst_extents;
  float alpha = 1.0f;
  std::vector<std::int8_t> src;  // of set 0: NCHW, on the host
  DeviceBuffer bias, sum_bias, slope, filter_zero;
  DeviceBuffer low, high, sums;
  DeviceBuffer window_sums;  // of set 0, where a FilterZeroPoint reads them
  std::vector<float> source_scale, source_offset;
  DeviceBuffer gpu_source_scale, gpu_source_offset;
  std::vector<Set> sets;
};

// A vector of `count` values: value(0), value(1), ...
template <class Value>
auto VectorOf(std::int64_t count, const Value& value) {
  std::vector<decltype(value(std::int64_t{0}))> values;
  values.reserve(count);
  for (std::int64_t i = 0; i < count; ++i) values.push_back(value(i));
  return values;
}

}  // namespace weft::perf
