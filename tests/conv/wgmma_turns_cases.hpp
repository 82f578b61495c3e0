// Convolutions through the warpgroup products of sm_90a whose sets of warpgroups take tiles in turn.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "tests/conv/zero_point_cases.hpp"
#include "tests/conv/zero_point_policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;

// A warp writes padding into slices, too.
TEST(WgmmaTurns, SourceZeroPoint) {
  RunBorders<ZeroTurns>();
  RunAsymmetric<ZeroTurns>(10, 1);
}
TEST(WgmmaTurns, FilterZeroPoint) {
  RunAsymmetric<ZeroFilterTurns>(12, 1, 1, 4);
}

}  // namespace
}  // namespace weft::conv
