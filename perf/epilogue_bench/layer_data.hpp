// What the operators of epilogue_bench read and write for one layer. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"
#include "perf/support/zero_points.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::perf {

struct LayerData {
  static constexpr float kBias = 3.0f;
  // Of an epilogue with an OutputScale: a step of its output, and in real values what is a step elsewhere.
  static constexpr float kOutputScale = 1.0f / 16.0f;
  static constexpr std::uint64_t kResidualSeed = 77;
  static float Slope(std::int64_t k) { return 0.125f * static_cast<float>(k % 7); }
  // Of a SourceFunctor, for each channel.
  static float SourceScale(std::int64_t c) { return 0.5f + 0.125f * static_cast<float>(c % 5); }
  static float SourceOffset(std::int64_t c) { return static_cast<float>(c % 7) - 3.0f; }

  // One run's; what a variant does not read or write it leaves alone.
  struct Set {
    DeviceBuffer src, filter, int4_filter, dst;
    DeviceBuffer wide;  // a float for each output: a copy's, or where those of more than a byte go
    DeviceBuffer residual;  // the same in every set
  };

  // The buffers of as many sets as pass the L2. int4: with filters of int4, whose values the others
  // have too, and without what only variants of other epilogues read.
  static absl::StatusOr<LayerData> Create(const conv::Problem& problem, bool int4,
                                          cudaStream_t stream);

  int count() const { return static_cast<int>(sets.size()); }

  conv::Problem problem;
  float alpha = 1.0f;
  std::vector<std::int8_t> src, filter;  // of set 0: NCHW and KCRS, on the host
  PackedFilterBuffer<CxRSKx<32>> packed;
  std::optional<PackedFilterBuffer<PackedInt4<CxRSKx<32>>>> int4_packed;
  std::optional<conv::SourceCorrectionBuffer> correction;
  std::vector<std::int32_t> window_sums;  // of set 0
  DeviceBuffer bias, sum_bias, slope, gpu_correction, filter_zero, gpu_window_sums;
  DeviceBuffer low, high, sums;
  std::vector<float> source_scale, source_offset;
  DeviceBuffer gpu_source_scale, gpu_source_offset;
  std::vector<Set> sets;

 private:
  LayerData(const conv::Problem& problem, std::vector<std::int8_t> filter,
            PackedFilterBuffer<CxRSKx<32>> packed);
  absl::Status MakeEpilogueData();
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
