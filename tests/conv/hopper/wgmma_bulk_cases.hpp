// Stores of bytes to NCxHWx<32> behind wgmma, and residuals of such bytes, which come and go by bulk copies of whole
// runs of pixels (gemm/staged/staged_bulk.hpp), or chunk by chunk where runs are short.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/policy/wgmma_policies.hpp"

namespace weft::conv {
namespace {

using epilogues::BiasRelu;
using AddBytes =
    epilogues::Chain<epilogues::Residual<std::int8_t>, epilogues::Scale, epilogues::Bias<>,
                     epilogues::Relu, epilogues::ClampTo<std::int8_t>>;
template <class TileT, class EpilogueT = AddBytes>
using BulkPolicy = WgmmaPolicy<NCxHWx<32>, EpilogueT, TileT>;
// Rows that are no multiple of 32, several blocks of channels for a warpgroup, and eight rows.
using OddRows = WgmmaTile<48, 64, 64, 48, 64>;
using WideTile = WgmmaTile<64, 128, 64, 64, 128>;
using FewRows = SplitK<WgmmaTile<32, 64, 64, 32, 64>, 4>;

// Images of every kind: dense ones, a few pixels each, with gaps between their rows, of short rows, of one row
// or column or pixel; and channels that fill no block.
template <class P>
void RunBulk() {
  std::vector<Problem> problems = {
      SquareProblem(5, 33, 7, 72, 1, 0, 1),  SquareProblem(3, 32, 3, 13, 1, 0, 1),
      SquareProblem(70, 40, 1, 64, 1, 0, 1), SquareProblem(3, 32, 12, 100, 3, 1, 1),
      SquareProblem(3, 32, 7, 64, 3, 1, 1),  SquareProblem(2, 64, 17, 160, 3, 1, 2),
  };
  Problem row = SquareProblem(3, 32, 1, 40, 1, 0, 1), column = row;
  row.w = 101, column.h = 83;
  problems.push_back(row);
  problems.push_back(column);
  for (const Problem& problem : problems) {
    ExpectMatchesReference<P>(problem, reference::ReluActivation{},
                              {.gamma = P::Epilogue::kHasResidual ? -0.7f : 1.0f});
    if (testing::Test::HasFailure()) return;
  }
}
TEST(WgmmaBulk, Outputs) {
  RunBulk<BulkPolicy<WgmmaTile<64, 64, 64, 32, 64>, BiasRelu<>>>();
}
TEST(WgmmaBulk, Residuals) {
  RunBulk<BulkPolicy<OddRows>>();
  RunBulk<BulkPolicy<WideTile>>();
}
TEST(WgmmaBulk, Kernels) {
  RunBulk<BulkPolicy<PingPong<SmallTile64>>>();
  RunBulk<BulkPolicy<FewRows>>();
}

// A residual that is not read.
TEST(WgmmaBulk, NoResidual) {
  ExpectMatchesReference<BulkPolicy<OddRows>>(SquareProblem(5, 33, 7, 72, 1, 0, 1),
                                              reference::ReluActivation{}, {.gamma = 0.0f});
}

}  // namespace
}  // namespace weft::conv
