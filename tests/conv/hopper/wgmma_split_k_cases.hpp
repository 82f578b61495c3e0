// Convolutions through the warpgroup products of sm_90a whose blocks share the k tiles of a tile.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"

namespace weft::conv {

namespace {

using epilogues::BiasRelu;

template <class P>
class WgmmaSplitKPrologues : public testing::Test {};
using SplitKProloguePolicies =
    testing::Types<WgmmaPrologue<prologues::PerSample, NCxHWx<32>, SplitK<SmallTile64, 2>>,
                   WgmmaNhwcPrologue<prologues::Grouped, NHWC, SplitK<SmallTile64, 4>>>;
TYPED_TEST_SUITE(WgmmaSplitKPrologues, SplitKProloguePolicies);

TYPED_TEST(WgmmaSplitKPrologues, Corners) {
  RunPrologueCorners<TypeParam>();
}

}  // namespace
}  // namespace weft::conv
