// What condconv_bench mixes and convolves, and whether it came out right. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::perf {

// A layer with experts: planar on the host, NCxHWx<32> and CxRSKx<32> on the GPU.
struct CondData {
  static constexpr std::int64_t kExperts = 8;
  static constexpr float kBias = 3.0f;        // of every channel
  static constexpr float kMixedScale = 0.4f;  // expert_scale of each expert and channel

  static absl::StatusOr<CondData> Create(const conv::Problem& problem);

  // Of a sample of outputs, those that differ by more than `allowed` from what the mixed filters
  // make of the source; and of the elements of these filters, those that differ by more from what
  // they should be. filter(n, k, i): i counts c, r, s. dst(n, k, row, column).
  int Wrong(
      int allowed, const std::function<int(std::int64_t, std::int64_t, std::int64_t)>& filter,
      const std::function<int(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& dst) const;
  // DataLoss if something in the sample is wrong: in workspace and dst; in filters of format KRSC
  // and outputs of format NHWC, by more than 1.
  absl::Status Check() const;
  absl::Status CheckChannelsLast(const DeviceBuffer& mixed, const DeviceBuffer& dst) const;

  conv::Problem problem;
  std::vector<std::int8_t> src, bank;  // [E][K][C][R][S]
  std::vector<std::int8_t> routing;  // [N][E], 0 to 127: in steps of 1 / 127, as libraries have it
  std::vector<float> weights;        // the same as numbers
  float alpha = 1.0f;
  PackedFilterBuffer<CxRSKx<32>, std::int8_t, prologues::Experts> experts;
  PackedFilterBuffer<CxRSKx<32>, std::int8_t> plain;  // the first expert
  DeviceBuffer gpu_src, gpu_experts, gpu_plain, gpu_routing, gpu_scale, gpu_bias;
  DeviceBuffer workspace, dst;
  DeviceBuffer want;  // for a dst that was right

 private:
  CondData(const conv::Problem& problem, std::vector<std::int8_t> bank,
           PackedFilterBuffer<CxRSKx<32>, std::int8_t, prologues::Experts> experts,
           PackedFilterBuffer<CxRSKx<32>, std::int8_t> plain);
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
