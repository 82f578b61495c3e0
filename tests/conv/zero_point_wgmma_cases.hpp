// Zero points through wgmma_sm90: stores through shared memory, straight from registers, and of
// strips.
#pragma once

#include "tests/conv/zero_point_cases.hpp"

namespace weft::conv {
namespace {

TEST(ZeroPointWgmma, Staged) {
  RunBorders<ZeroWgmma>();
  RunAsymmetric<ZeroWgmma>(25, 1);
}

TEST(ZeroPointWgmma, Sums) {
  RunBorders<ZeroWgmmaSums>();
  RunAsymmetric<ZeroWgmmaSums>(20, 2, 16, 4);
}

TEST(ZeroPointWgmma, Strips) {
  RunBorders<ZeroWgmmaFirst>(1);
  for (const std::int64_t stride : {1, 2, 4}) {
    ExpectExact<ZeroWgmmaFirst>(SquareProblem(2, 3, 23, 40, 7, 3, stride),
                                static_cast<std::uint32_t>(stride));
  }
}

TEST(ZeroPointWgmma, OfTheFilterToo) {
  RunBorders<ZeroFilterWgmma>();
  RunAsymmetric<ZeroFilterWgmma>(20, 3, 1, 4);
}

}  // namespace
}  // namespace weft::conv
