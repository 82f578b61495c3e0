// Every prologue through simt. Of the three things that meet in an operator, prologue, mainloop and
// destination layout, every two meet here, in prologue_mma_cases.hpp or prologue_epilogue_cases.hpp.
#pragma once

#include "tests/conv/prologue_cases.hpp"

namespace weft::conv {
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;

// Few pixels and many channels for the prologue whose tiles have images as rows.
using LocalTile = Tile<16, 64, 64, 16, 32, 2, 8>;
using BlockTile = Tile<64, 64, 32, 32, 32, 4, 8>;
// Warps that share a tile and each multiply a part of the slice.
using SlicedTile = Tile<32, 32, 128, 32, 16, 4, 4, 4, 32>;

template <class P>
class PrologueSimt : public testing::Test {};

using SimtPolicies =
    testing::Types<Nc4Prologue<PerSample, NCxHWx<32>>, Nc4Prologue<PerSample, NHWC>,
                   Nc4Prologue<PerSample, NCHW>, Nc4Prologue<LocalFilter, NCxHWx<4>, LocalTile>,
                   Nc4Prologue<LocalFilter, NCHW, LocalTile>,
                   Nc4Prologue<LocalBlock<4, 4>, NCxHWx<32>, BlockTile>,
                   Nc4Prologue<LocalBlock<1, prologues::Depends::kWhole>, NHWC, BlockTile>,
                   Nc4Prologue<LocalBlock<3, 1>, NCHW, BlockTile>, Nc4Prologue<Grouped, NCxHWx<4>>,
                   Nc4Prologue<Grouped, NCHW>, Nc4Prologue<FromBank, NCxHWx<4>, SlicedTile>,
                   Nc4Prologue<EverythingReversed, NCxHWx<4>>>;
TYPED_TEST_SUITE(PrologueSimt, SimtPolicies, PrologueTestName);

TYPED_TEST(PrologueSimt, Corners) {
  RunPrologueCorners<TypeParam>(reference::ReluActivation{});
}

TYPED_TEST(PrologueSimt, Random) {
  RunRandomPrologue<TypeParam>(12, 31, reference::ReluActivation{});
}

// Blocks of pixels with warps that share a tile.
TEST(PrologueSimtSliced, Random) {
  RunRandomPrologue<Nc4Prologue<LocalBlock<2, 2>, NCxHWx<4>, SlicedTile>>(
      10, 32, reference::ReluActivation{});
}

// Groups whose output channels fill no word: stores of one byte, so that none straddles two groups.
TEST(PrologueSimtGroups, OfAnyNumberOfOutputChannels) {
  using P = ProloguePolicy<Grouped, NCxHWx<4>, CxRSKx<4>, NCxHWx<4>, epilogues::BiasRelu<>,
                           SmallTile<1>, 4, 1>;
  using ToNhwc = ProloguePolicy<Grouped, NCxHWx<4>, CxRSKx<4>, NHWC, epilogues::BiasRelu<>,
                                SmallTile<1>, 4, 1>;
  for (const std::int64_t k : {1, 5, 33}) {
    Problem p = SquareProblem(2, 3 * 8, 5, 3 * k, 3, 1, 1);
    p.groups = 3;
    ExpectMatchesReference<P>(p, reference::ReluActivation{});
    ExpectMatchesReference<ToNhwc>(p, reference::ReluActivation{});
  }
}

// One input channel block a group, as many groups as blocks.
TEST(PrologueSimtGroups, AsManyAsChannelBlocks) {
  Problem p = SquareProblem(2, 64, 6, 64, 3, 1, 2);
  p.groups = 16;
  ExpectMatchesReference<Nc4Prologue<Grouped, NCxHWx<4>>>(p, reference::ReluActivation{});
}

// More batches than the second and third dimension of a grid have blocks.
TEST(PrologueSimtBatches, MoreThan65535) {
  Problem p;
  p.n = 2, p.h = 257, p.w = 256;
  ExpectMatchesReference<Nc4Prologue<LocalFilter, NCxHWx<4>, LocalTile>>(
      p, reference::ReluActivation{});
}

// Images that all pick the same filter, and a bank with a filter that nobody picks.
TEST(PrologueSimtBank, OneFilterForAll) {
  using P = Nc4Prologue<FromBank, NCxHWx<4>, SlicedTile>;
  const Problem p = SquareProblem(1, 10, 6, 20, 3, 1, 1);
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {  // one image: each filter alone
    ExpectMatchesReference<P>(p, reference::ReluActivation{}, {.seed = seed});
  }
}

}  // namespace
}  // namespace weft::conv
