// CondConv against the reference, which mixes planar experts by itself: the mixed filters and the
// convolution's outputs, exactly.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/conv/condconv_checks.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

// Its epilogue is of real values.
using Simple =
    Nc4Prologue<PerSample, NCxHWx<4>, SmallTile<4>, epilogues::BiasActivation<epilogues::Relu>>;

template <class P>
class CondConvTest : public testing::Test {};

using CondConvPolicies =
    testing::Types<Simple, Nc32Prologue<PerSample, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8>,
                   UnsignedSource<NhwcPrologue<PerSample, NHWC, 64, 64, 4, 4>>,
                   WgmmaPrologue<PerSample, NCxHWx<32>, SmallTile64>>;
TYPED_TEST_SUITE(CondConvTest, CondConvPolicies);

// Each number of experts with each number of images, and problems that fill nothing.
TYPED_TEST(CondConvTest, ExpertsAndImages) {
  for (std::int64_t experts = 1; experts <= 9; ++experts) {
    Problem p = SquareProblem(1 + experts % 5, 5, 4, 7, 1 + experts % 3, 1, 1);
    p.w = 3;
    MixOptions options{
        .experts = experts, .scaled = experts % 2 == 0, .constant = experts % 3 == 0};
    options.run.seed = static_cast<std::uint32_t>(experts);
    ExpectMixed<TypeParam>(FitTo<TypeParam>(p, 1), options);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(CondConvTest, Corners) {
  for (const Problem& corner : PrologueCorners()) {
    ExpectMixed<TypeParam>(FitTo<TypeParam>(corner, 1), {.experts = 3});
    if (this->HasFailure()) return;
  }
}

// 1024 / 32 images have their weights at hand at a time; a filter of several blocks of threads.
TEST(CondConv, ManyImagesAndExperts) {
  ExpectMixed<Simple>(SquareProblem(37, 4, 2, 4, 1, 0, 1), {.experts = 32});
  ExpectMixed<Simple>(SquareProblem(70, 40, 2, 40, 3, 1, 1), {.experts = 17});
  ExpectMixed<Simple>(SquareProblem(2, 40, 2, 60, 3, 1, 1), {.experts = 4});
}

// Channels of KRSC whose filters are no whole vectors of 8 bytes.
TEST(CondConv, FiltersOfOddWords) {
  ExpectMixed<NhwcPrologue<PerSample, NHWC, 64, 64, 4, 1>>(SquareProblem(3, 4, 3, 5, 3, 1, 1),
                                                           {.experts = 3});
}

// Weights that are no numbers, and too large ones.
TEST(CondConv, StrangeWeights) {
  const Problem p = SquareProblem(3, 6, 3, 5, 2, 1, 1);
  for (const float strange : {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), -1e30f, 3e38f, 1e-42f}) {
    SCOPED_TRACE(strange);
    ExpectMixed<Simple>(p, {.experts = 5, .strange = strange});
  }
}

// Halves go to the even neighbour, and sums that a float cannot hold are rounded at each expert.
TEST(CondConv, Rounding) {
  const Problem p = SquareProblem(1, 32, 2, 8, 2, 1, 1);
  ExpectMixed<Simple>(p, {.experts = 1, .scaled = false, .strange = 0.5f});
  ExpectMixed<Simple>(p, {.experts = 2, .scaled = false, .strange = 1.0f / 3});
}

TEST(CondConv, OfAFamily) {
  ExpectMixed<Family<Simple>, Simple>(SquareProblem(3, 9, 5, 12, 3, 1, 1));
}

}  // namespace
}  // namespace weft::conv
