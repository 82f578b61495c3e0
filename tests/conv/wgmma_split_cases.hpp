// Convolutions through the warpgroup products of sm_90a whose blocks share the slices of a tile.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/wgmma_policies.hpp"

namespace weft::conv {

namespace {

using epilogues::BiasRelu;

template <class P>
class WgmmaSplitPrologues : public testing::Test {};
using SplitProloguePolicies =
    testing::Types<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, Split<SmallTile64, 2>>,
                   WgmmaNhwcPrologue<prologues::Grouped, NHWC, Split<SmallTile64, 4>>>;
TYPED_TEST_SUITE(WgmmaSplitPrologues, SplitProloguePolicies);

TYPED_TEST(WgmmaSplitPrologues, Corners) {
  RunPrologueCorners<TypeParam>();
}

}  // namespace
}  // namespace weft::conv
