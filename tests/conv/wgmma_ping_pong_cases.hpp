// Convolutions through the warpgroup products of sm_90a which are ping-pong.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "tests/conv/zero_point_cases.hpp"
#include "tests/conv/zero_point_policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;

// A warp writes padding into k tiles, too.
TEST(WgmmaPingPong, SourceZeroPoint) {
  RunBorders<ZeroPingPong>();
  RunAsymmetric<ZeroPingPong>(10, 1);
}
TEST(WgmmaPingPong, FilterZeroPoint) {
  RunAsymmetric<ZeroFilterPingPong>(12, 1, 1, 4);
}

}  // namespace
}  // namespace weft::conv
