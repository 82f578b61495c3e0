// Zero points where one table of corrections does not do: the phases of a deconvolution; exactly.
#pragma once

#include "tests/conv/zero_point/zero_point_phases_checks.hpp"

namespace weft::conv {

using TransposedSimt = Int4Source<Transposed<ZeroSimt>>;
using TransposedSm80 = Transposed<ZeroFilterSm80>;
using TransposedWgmma = Transposed<ZeroWgmmaSums>;

namespace {

template <class P>
void RunPhases(int multiple = 1) {
  const auto fit = [&](DeconvolutionProblem p) {
    p.c = RoundUp(p.c, multiple), p.k = RoundUp(p.k, multiple);
    return p;
  };
  std::uint32_t seed = 40;
  for (const DeconvolutionProblem& p : {
           SquareDeconvolution(2, 33, 5, 37, 3, 1, 2, 1),  // phases of different borders
           SquareDeconvolution(1, 20, 4, 40, 2, 0, 2),     // phases without any
           SquareDeconvolution(1, 16, 4, 33, 1, 0, 2),     // phases without taps
           SquareDeconvolution(1, 8, 3, 8, 2, 1, 2),       // phases that begin inside the source
       }) {
    ExpectDeconvolvedExactly<P>(fit(p), ++seed);
    if (testing::Test::HasFailure()) return;
  }
  std::mt19937 engine(9);
  for (int i = 0; i < 12; ++i) {
    ExpectDeconvolvedExactly<P>(fit(RandomDeconvolution(engine, 3, 3)), ++seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(ZeroPointPhases, SimtOf4Bits) {
  RunPhases<TransposedSimt>();
}
TEST(ZeroPointPhases, MmaSm80WithFilterZeroPoint) {
  RunPhases<TransposedSm80>();
}
TEST(ZeroPointPhases, Wgmma) {
  RunPhases<TransposedWgmma>(16);
}

}  // namespace
}  // namespace weft::conv
