// DepthwisePointwise against the reference of its two halves, one after the other: layouts,
// epilogues, filters and strides, on small and ragged problems.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "tests/conv/depthwise_pointwise/depthwise_pointwise_checks.hpp"

namespace weft::conv {
namespace {

template <class P>
class Fused : public testing::Test {};
using FusedPolicies =
    testing::Types<Fused32, FusedNhwc, Fused4ToPlanar, FusedTo64, FusedNarrow32, FusedNarrow64>;
TYPED_TEST_SUITE(Fused, FusedPolicies);

// Each kernel, over images that are no multiple of a thread's pixels or of a block's.
TYPED_TEST(Fused, Shapes) {
  for (const std::int64_t rs : {3, 5}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t hw : {1, 7, 15}) {
        Problem p = SquareProblem(2, 30 + hw, hw, 5 + 3 * hw, rs, rs / 2, stride);
        p.w = hw + 2;
        FusedOptions options;
        options.run.seed = static_cast<std::uint32_t>(hw);
        options.middle_zero_point = hw == 7 ? 3.0f : 0.0f;
        ExpectFused<TypeParam>(p, options);
        if (this->HasFailure()) return;
      }
    }
  }
}

// K tiles and output channels that take the warps several rounds, and images that share a block.
TYPED_TEST(Fused, ManyChannels) {
  ExpectFused<TypeParam>(SquareProblem(1, 230, 3, 200, 3, 1, 1));
  ExpectFused<TypeParam>(SquareProblem(5, 64, 2, 97, 3, 1, 2));
  ExpectFused<TypeParam>(SquareProblem(9, 1, 1, 1, 3, 1, 1));
  ExpectFused<TypeParam>(SquareProblem(1, 33, 1, 31, 3, 4, 1));  // whole outputs see no input
}

TYPED_TEST(Fused, Random) {
  std::mt19937 engine(11);
  for (int i = 0; i < 24; ++i) {
    Problem p = RandomProblem(engine);
    p.r = p.s = i % 2 == 0 ? 3 : 5;
    p.stride_h = p.stride_w = 1 + i / 2 % 2;
    p.dilation_h = p.dilation_w = 1;
    p.mode = Mode::kCrossCorrelation;
    p.h += p.r, p.w += p.s, p.c += i % 3 * 20;
    FusedOptions options;
    options.multiplier = i % 4 == 3 ? 1 + engine() % 4 : 1;
    options.run.seed = static_cast<std::uint32_t>(engine());
    options.run.per_tensor_alpha = i % 5 == 0;
    if (TypeParam::Epilogue::kHasResidual) options.run.gamma = 0.5f;
    ExpectFused<TypeParam>(p, options);
    if (this->HasFailure()) return;
  }
}

// Threads run one kernel with different shared memory, all of it more than a block has without asking, and two of
// them each share an operator.
TEST(FusedThreads, ShareOperatorsAndKernel) {
  using P = Fused4ToPlanar;
  std::vector<DepthwisePointwiseProblem> problems;
  std::vector<DepthwisePointwise<P>> ops;
  for (const std::int64_t c : {512, 960}) {
    problems.push_back({AsFirstHalf<P>(SquareProblem(1, c, 8, 1, 3, 1, 1), 1), 16});
    const auto op = DepthwisePointwise<P>::Create(problems.back());
    ASSERT_TRUE(op.ok()) << op.status();
    ops.push_back(*op);
  }
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < 4; ++i) {
    threads.emplace_back([&problems, &ops, i] {
      FusedOptions options;
      options.run.seed = i;
#if defined(WEFT_CUDA_BACKEND)
      options.runs = 500;
#endif
      ExpectFusedBy<P>(ops[i % 2], problems[i % 2], options);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft::conv
