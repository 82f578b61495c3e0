// Every prologue through simt. Of the things that meet in an operator, prologue, mainloop, destination layout and
// epilogue, every two meet here or in prologue_mma_cases.hpp.
#pragma once

#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/kinds.hpp"

namespace weft::conv {

// The output's coordinates as a number, exact in a float: n, p, q below 16, k below 1024.
struct Where {
  constexpr float operator()(float, const epilogues::OutputCoord& at) const {
    return static_cast<float>(((at.n * 1024 + at.k) * 16 + at.p) * 16 + at.q);
  }
};
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;

// Few pixels and many channels for the prologue whose tiles have images as rows.
using LocalTile = Tile<16, 64, 64, 16, 32, 2, 8>;
using BlockTile = Tile<64, 64, 32, 32, 32, 4, 8>;
// Warps that share a tile and each multiply a part of the k tile.
using SlicedTile = Tile<32, 32, 128, 32, 16, 4, 4, 4, 32>;

template <class P>
class PrologueSimt : public testing::Test {};

using SimtGrouped = Nc4Prologue<Grouped, NCxHWx<4>, SmallTile<4>, AddedReluOfNhwc>;
using SimtLocalFilter = Nc4Prologue<LocalFilter, NCxHWx<4>, LocalTile, AddedReluOfNhwc>;
using SimtBlock = Nc4Prologue<LocalBlock<4, 4>, NCxHWx<32>, BlockTile, AddedRelu>;
using SimtPerSample = Nc4Prologue<PerSample, NCxHWx<32>, SmallTile<4>, AddedRelu>;
using SimtPolicies =
    testing::Types<SimtPerSample, SimtLocalFilter, SimtBlock, SimtGrouped,
                   Nc4Prologue<FromBank, NCxHWx<4>, SlicedTile>
#if !WEFT_ONE_OF_EACH_KIND
                   ,
                   Nc4Prologue<PerSample, NHWC>,
                   Nc4Prologue<PerSample, NCHW, SmallTile<4>, FloatHSwish>,
                   Nc4Prologue<LocalFilter, NCHW, LocalTile, FloatHSwish>,
                   Nc4Prologue<LocalBlock<1, prologues::Depends::kWhole>, NHWC, BlockTile>,
                   Nc4Prologue<LocalBlock<3, 1>, NCHW, BlockTile, FloatHSwish>,
                   Nc4Prologue<Grouped, NCHW, SmallTile<4>, FloatHSwish>,
                   Nc4Prologue<EverythingReversed, NCxHWx<4>>
#endif
                   >;
TYPED_TEST_SUITE(PrologueSimt, SimtPolicies, PrologueTestName);

TYPED_TEST(PrologueSimt, Corners) {
  RunPrologueCorners<TypeParam>();
}

TYPED_TEST(PrologueSimt, Random) {
  RunRandomPrologue<TypeParam>(12, 31);
}

// Blocks of pixels with warps that share a tile.
TEST(PrologueSimtSliced, Random) {
  RunRandomPrologue<Nc4Prologue<LocalBlock<2, 2>, NCxHWx<4>, SlicedTile>>(10, 32);
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
  ExpectMatchesReference<SimtGrouped>(p, reference::ReluActivation{});
}

// More batches than the second and third dimension of a grid have blocks.
TEST(PrologueSimtBatches, MoreThan65535) {
  Problem p;
  p.n = 2, p.h = 257, p.w = 256;
  ExpectMatchesReference<SimtLocalFilter>(p, reference::ReluActivation{});
}

// Images that all pick the same filter, and a bank with a filter that nobody picks.
TEST(PrologueSimtBank, OneFilterForAll) {
  using P = Nc4Prologue<FromBank, NCxHWx<4>, SlicedTile>;
  const Problem p = SquareProblem(1, 10, 6, 20, 3, 1, 1);
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {  // one image: each filter alone
    ExpectMatchesReference<P>(p, reference::ReluActivation{}, {.seed = seed});
  }
}

// The coordinates that an activation sees are those of its output.
template <class P>
void ExpectCoordinates(const Problem& corner) {
  const Problem p = FitTo<P>(corner, 3);
  SCOPED_TRACE(ToString(p));
  using Prologue = typename P::Prologue;
  const absl::StatusOr<Convolution<P>> op = Convolution<P>::Create(p);
  ASSERT_TRUE(op.ok()) << op.status();
  const PrologueBank<Prologue> bank(p, 1);
  const RandomTensors t(p, 1, bank.filters);
  const auto filters = PackFilters<Prologue, typename P::FilterLayout, KCRS, std::int8_t>(
      p.filter(), bank.filters, t.filter);
  ASSERT_TRUE(filters.ok()) << filters.status();
  const OperatorMemory<std::int8_t> src(
      *ConvertTensor<NCHW, typename P::SrcLayout, std::int8_t>(p.src(), t.src));
  const OperatorMemory<std::int8_t> packed({filters->data(), filters->data() + filters->size()});
  const OperatorMemory<float> dst(std::vector<float>(op->dst_size(), -1.0f));
  typename Convolution<P>::Arguments args;
  args.src = src.get(), args.filter = filters->At(packed.get()), args.dst = dst.get();
  args.prologue = bank.prologue;
  const absl::Status status = RunHere(*op, args);
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<float> got = dst.Read();
  std::int64_t i = 0, wrong = 0;
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t row = 0; row < p.p(); ++row) {
        for (std::int64_t column = 0; column < p.q(); ++column, ++i) {
          const auto want = static_cast<float>(((n * 1024 + k) * 16 + row) * 16 + column);
          if (got[i] != want && ++wrong <= 3) ADD_FAILURE() << got[i] << " is not " << want;
        }
      }
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << i;
}

template <class PrologueT, class TileT = SmallTile<4>>
void ExpectCoordinatesOf() {
  using E = epilogues::Chain<epilogues::Scale, Where, epilogues::ToFloat>;
  for (const Problem& corner : PrologueCorners()) {
    ExpectCoordinates<Nc4Prologue<PrologueT, NCHW, TileT, E>>(corner);
  }
}
#if !WEFT_ONE_OF_EACH_KIND
TEST(PrologueSimtCoordinates, OfEveryPrologue) {
  ExpectCoordinatesOf<PerSample>();
  ExpectCoordinatesOf<LocalFilter>();
  ExpectCoordinatesOf<LocalBlock<2, 3>>();
  ExpectCoordinatesOf<Grouped>();
}
#endif

}  // namespace
}  // namespace weft::conv
