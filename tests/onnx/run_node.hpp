// A QLinearConv or ConvInteger node of ONNX, run by an operator of Weft: what docs/quantization.md
// explains, and quotes. Planar tensors in and out, in host memory.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/operator_memory.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/layouts/packed_filter.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::onnx_test {

// The inputs of a node, in ONNX's names. T: of x. Numbers of a node without a scale stay empty.
template <class T>
struct Node {
  conv::Problem problem;
  std::vector<T> x{};            // N C H W
  std::vector<std::int8_t> w{};  // M C/group kH kW; of a uint8 filter, see ToSigned
  std::int32_t x_zero_point = 0, y_zero_point = 0;
  std::vector<std::int32_t> w_zero_point{};  // one per output channel, as are:
  float x_scale = 1.0f, y_scale = 1.0f;
  std::vector<float> w_scale{};
  std::vector<std::int32_t> b{};
};

// clang-format off
// A uint8 filter is the int8 one of 128 less, whose zero points are 128 less too.
inline std::vector<std::int8_t> ToSigned(const std::vector<std::uint8_t>& w) {
  std::vector<std::int8_t> result;
  for (const std::uint8_t value : w) result.push_back(static_cast<std::int8_t>(value - 128));
  return result;
}

// sx, sy: scales of source and destination; sw: the filter's, one per output channel.
inline std::vector<float> ChannelAlpha(float sx, const std::vector<float>& sw, float sy) {
  std::vector<float> alpha;
  for (const float s : sw) alpha.push_back(sx * s / sy);
  return alpha;
}

// The filter as the operator of P takes it.
template <class P>
auto PackNodeFilter(const conv::Problem& problem, const std::vector<std::int8_t>& w) {
  if constexpr (std::is_same_v<typename P::Prologue, prologues::Depthwise>) {
    return PackDepthwiseFilter({problem.k, 1, problem.r, problem.s}, w);
  } else {
    return PackFilters<typename P::Prologue, typename P::FilterLayout>(problem.filter(), problem.groups, w);
  }
}

// The sums of what the filter meets of the source, each less its zero point: a convolution by ones.
template <class P>
absl::StatusOr<std::vector<std::int32_t>> SumWindows(const conv::Problem& problem, const typename P::Element* src, std::int32_t x_zero_point) {
  const conv::Problem windows = conv::WindowSumsProblem(problem);
  const std::vector<std::int8_t> ones(KCRS::Size(windows.filter()) * windows.groups, 1);
  const auto filter = PackNodeFilter<P>(windows, ones);
  if (!filter.ok()) return filter.status();
  const auto correction = conv::MakeSourceCorrection(windows, *filter, x_zero_point);
  if (!correction.ok()) return correction.status();
  const auto op = conv::Convolution<conv::WindowSums<P>>::Create(windows);
  if (!op.ok()) return op.status();
  std::vector<std::int32_t> sums(op->dst_size());
  const absl::Status status = op->RunOnCpu({.src = src, .filter = filter->view(), .dst = sums.data(), .source_correction = correction->view()});
  if (!status.ok()) return status;
  return sums;
}

// P: its Epilogue is QLinear, ConvInteger, or one of them with a FilterZeroPoint.
template <class P>
absl::StatusOr<std::vector<typename P::Epilogue::Output>> RunNode(const Node<typename P::Element>& node) {
  using Epilogue = typename P::Epilogue;
  const conv::Problem& problem = node.problem;
  const auto op = conv::Convolution<P>::Create(problem);
  if (!op.ok()) return op.status();
  // Once for a node:
  const auto filter = PackNodeFilter<P>(problem, node.w);
  if (!filter.ok()) return filter.status();
  constexpr bool kDepthwise = std::is_same_v<typename P::Prologue, prologues::Depthwise>;
  absl::Span<const std::int32_t> zw;
  if (kDepthwise && Epilogue::kFilterZeroPoint) zw = node.w_zero_point;
  const auto correction = conv::MakeSourceCorrection(problem, *filter, node.x_zero_point, zw);
  if (!correction.ok()) return correction.status();
  const std::vector<float> alpha = ChannelAlpha(node.x_scale, node.w_scale, node.y_scale);
  // For every run:
  const auto blocked = ConvertTensor<NCHW, typename P::SrcLayout>(problem.src(), node.x);
  if (!blocked.ok()) return blocked.status();
  const OperatorMemory<typename P::Element> src(*blocked);  // aligned as operators want it
  std::vector<typename Epilogue::Output> dst(op->dst_size());
  typename conv::Convolution<P>::Arguments args{.src = src.get(), .filter = filter->view(), .dst = dst.data(), .source_correction = correction->view()};
  if constexpr (Epilogue::kHasScale) {
    args.bias = node.b.data();
    args.channel_alpha = alpha.data();
    args.zero_point = static_cast<float>(node.y_zero_point);
  }
  std::vector<std::int32_t> windows;
  if constexpr (Epilogue::kFilterZeroPoint) args.filter_zero_point = node.w_zero_point.data();
  if constexpr (Epilogue::kFilterZeroPoint && !kDepthwise) {
    auto sums = SumWindows<P>(problem, src.get(), node.x_zero_point);
    if (!sums.ok()) return sums.status();
    windows = *std::move(sums);
    args.window_sums = windows.data();
  }
  if (absl::Status s = op->RunOnCpu(args); !s.ok()) return s;
  return ConvertTensor<typename P::DstLayout, NCHW>(problem.dst(), dst);
}
// clang-format on

}  // namespace weft::onnx_test
