// Convolutions through the warpgroup products of sm_90a, over NCxHWx<32> and NHWC.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"

namespace weft::conv {

namespace {

using epilogues::BiasRelu;

// As many taps as a k tile can have steps, more, and a whole dilated row.
TEST(WgmmaSm90, LargeFilters) {
  using P = WgmmaPolicy<NCxHWx<32>, BiasRelu<>, SmallTile64>;
  const reference::ReluActivation relu;
  ExpectMatchesReference<P>(SquareProblem(2, 40, 9, 20, 7, 3, 2), relu);
  ExpectMatchesReference<P>(SquareProblem(2, 40, 9, 20, 7, 3, 1), relu);
  Problem p = SquareProblem(1, 70, 12, 33, 8, 4, 1);
  ExpectMatchesReference<P>(p, relu);
  p.s = 9, p.dilation_h = 2, p.pad_top = 5;
  p.mode = Mode::kConvolution;
  ExpectMatchesReference<P>(p, relu);
  Problem row = SquareProblem(2, 32, 3, 64, 1, 0, 1);
  row.w = 300, row.s = 4, row.dilation_w = 40, row.pad_left = 7;
  ExpectMatchesReference<P>(row, relu);
}

// Patches whose rows and images share their padding, and paddings that differ from side to side.
TEST(WgmmaSm90, Patches) {
  const reference::ReluActivation relu;
  const auto run = [&]<class P>() {
    for (std::int64_t top = 0; top < 3; ++top) {
      for (std::int64_t left = 0; left < 3; ++left) {
        Problem p = SquareProblem(3, 48, 7, 64, 3, 1, 1);
        p.w = 11, p.s = 2 + left % 2;
        p.pad_top = top, p.pad_left = left, p.pad_bottom = 2 - top;
        ExpectMatchesReference<P>(p, relu);
        p.mode = Mode::kConvolution;
        p.dilation_w = 2;
        ExpectMatchesReference<P>(p, relu);
      }
    }
  };
  run.template operator()<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, SmallTile64>>();
  run.template operator()<WgmmaNhwcPolicy<NHWC, BiasRelu<>, SmallTile64>>();
}

template <class P>
class WgmmaPrologues : public testing::Test {};
using ProloguePolicies = testing::Types<
    WgmmaPrologue<prologues::PerSample, NCxHWx<32>, SmallTile64>,
    WgmmaPrologue<prologues::Grouped, NCxHWx<32>, SmallTile64>,
    WgmmaPrologue<FromBank, NHWC, WgmmaTile<32, 64, 64, 32, 64, 2, 4>>,
    WgmmaNhwcPrologue<prologues::Grouped, NHWC, SmallTile64>,
    WgmmaNhwcPrologue<prologues::PerSample, NCxHWx<4>, WgmmaTile<32, 64, 64, 32, 64, 2, 4>>>;
TYPED_TEST_SUITE(WgmmaPrologues, ProloguePolicies);

TYPED_TEST(WgmmaPrologues, Corners) {
  RunPrologueCorners<TypeParam>();
}

TYPED_TEST(WgmmaPrologues, Random) {
  RunRandomPrologue<TypeParam>(8, 41);
}

}  // namespace
}  // namespace weft::conv
