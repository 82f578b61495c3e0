// Bottleneck against plain loops: epilogues, types, tiles that the image does not fill, and more tiles than
// a block has patches.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/conv/bottleneck/bottleneck_checks.hpp"

namespace weft::conv {
namespace {

template <class P>
class Blocks : public testing::Test {};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// One for each way that y goes: what the others do to a value is no sanitizer's matter.
using BlockPolicies = testing::Types<U8Projected, S8Block, NoResidual>;
#else
using BlockPolicies = testing::Types<U8Block, U8Projected, S8Block, S8Projected, ReluBlock,
                                     ReluProjected, NoResidual>;
#endif
TYPED_TEST_SUITE(Blocks, BlockPolicies);

// As many channels as the policy takes: y has those of x where x is added.
template <class P>
BottleneckProblem WithChannels(BottleneckProblem p, std::int64_t c, std::int64_t k) {
  const bool in_place = P::Epilogue::kHasResidual && !kProjects<P>;
  p.c = in_place ? k : c, p.k = k;
  return p;
}

TYPED_TEST(Blocks, OneTile) {
  ExpectBottleneck<TypeParam>(WithChannels<TypeParam>({.n = 1, .h = 4, .w = 8}, 64, 64));
}

TYPED_TEST(Blocks, Ragged) {
  BottleneckOptions options;
  for (const std::int64_t w : {4, 12, 20}) {
    for (const std::int64_t h : {1, 9, 15}) {
      options.run.seed = static_cast<std::uint32_t>(100 * w + h);
      options.filters_are_constant = h == 9;
      const std::int64_t c = w == 4 ? 32 : w == 12 ? 96 : 160, k = h == 1 ? 192 : h == 9 ? 64 : 128;
      ExpectBottleneck<TypeParam>(WithChannels<TypeParam>({.n = 2, .h = h, .w = w}, c, k), options);
      if (this->HasFailure()) return;
    }
  }
}

// Zero points of t1 and t2, and the padding that stands for 0 in t1.
TYPED_TEST(Blocks, ZeroPoints) {
  BottleneckOptions options;
  options.run.seed = 3;
  options.padding =
      std::is_same_v<typename TypeParam::FirstEpilogue::Output, std::int8_t> ? -128 : 9;
  options.second_zero_point = 5.0f;
  ExpectBottleneck<TypeParam>(WithChannels<TypeParam>({.n = 1, .h = 16, .w = 12}, 64, 128),
                              options);
}

// Many values lie outside the bytes' range; a channel of a part decides how all of it is computed.
TYPED_TEST(Blocks, LargeAndOddScales) {
  BottleneckOptions options;
  options.run.seed = 7;
  options.steps = 2.5f;
  const auto p = WithChannels<TypeParam>({.n = 1, .h = 5, .w = 12}, 64, 128);
  ExpectBottleneck<TypeParam>(p, options);
  options.steps = 1.0f;
  options.has_odd_one = true;
  ExpectBottleneck<TypeParam>(p, options);
}

// Blocks go through all their patches several times.
TYPED_TEST(Blocks, ManyTiles) {
  BottleneckOptions options;
  options.run.seed = 5;
  ExpectBottleneck<TypeParam>(WithChannels<TypeParam>({.n = 5, .h = 18, .w = 32}, 64, 64), options);
}

}  // namespace
}  // namespace weft::conv
