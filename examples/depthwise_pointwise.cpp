// The second half of an inverted residual block of a mobile network: a depthwise convolution and the
// 1x1 convolution after it as one operator, whose bytes are those of the two run one by one.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <vector>

#include "weft/conv/depthwise_pointwise.hpp"

struct Block {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<32>;
  using DstLayout = weft::NCxHWx<32>;
  using DepthwiseEpilogue = weft::epilogues::BiasRelu<>;
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ClampTo<std::int8_t>>;
  static constexpr auto config = weft::conv::kFused7x3x16;
};
using First = weft::conv::Convolution<weft::conv::DepthwiseHalf<Block>>;
using Second = weft::conv::Convolution<weft::conv::PointwiseHalf<Block>>;

std::vector<std::int8_t> Numbers(std::int64_t count, int step) {
  std::vector<std::int8_t> v(count);
  for (std::int64_t i = 0; i < count; ++i) v[i] = static_cast<std::int8_t>(i * step % 251);
  return v;
}

int main() {
  weft::conv::Problem depthwise = weft::conv::SquareProblem(2, 96, 14, 96, 3, 1, 2);
  depthwise.groups = 96;
  const auto op = weft::conv::DepthwisePointwise<Block>::Create(depthwise, 24);
  if (!op.ok()) return std::cerr << op.status() << "\n", 1;

  const std::vector<std::int8_t> src = Numbers(op->src_size(), 37);
  const auto taps = weft::PackDepthwiseFilter(op->depthwise_filter_extents(), Numbers(96 * 9, 101));
  const auto filter =
      weft::PackFilter<weft::CxRSKx<32>>(op->pointwise().filter(), Numbers(24 * 96, 91));
  const std::vector<float> bias(96, 3.0f);
  std::vector<std::int8_t> dst(op->dst_size()), between(2 * 96 * 7 * 7), want(op->dst_size());
  absl::Status status =
      op->RunOnCpu({.src = src.data(),
                    .depthwise = {.filter = taps->view(), .bias = bias.data(), .alpha = 0.004f},
                    .filter = filter->view(),
                    .dst = dst.data(),
                    .alpha = 0.002f});
  const auto first = First::Create(depthwise);
  const auto second = Second::Create(op->pointwise());
  status.Update(first->RunOnCpu({.src = src.data(),
                                 .filter = taps->view(),
                                 .bias = bias.data(),
                                 .dst = between.data(),
                                 .alpha = 0.004f}));
  status.Update(second->RunOnCpu(
      {.src = between.data(), .filter = filter->view(), .dst = want.data(), .alpha = 0.002f}));
  if (!status.ok()) return std::cerr << status << "\n", 1;
  std::cout << op->Describe() << "\n"
            << want.size() - std::count(dst.begin(), dst.end(), 0) << " outputs not zero, "
            << (dst == want ? "all" : "not all") << " those of two operators\n";
  return dst == want ? 0 : 1;
}
