// Every prologue through mma_sm80, over NCxHWx<32> and over NHWC.
#pragma once

#include "tests/conv/kernel/prologue_cases.hpp"
#include "tests/kinds.hpp"

namespace weft::conv {
namespace {

using prologues::Grouped;
using prologues::LocalBlock;
using prologues::LocalFilter;
using prologues::PerSample;

template <class P>
class PrologueMma : public testing::Test {};

// Each of the epilogues with each prologue, here or in prologue_simt_cases.hpp: an epilogue knows neither the prologue
// nor the mainloop, only the map of a tile's rows to pixels, which they share.
using MmaPerSample = Nc32Prologue<PerSample, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8, AddedReluOfNhwc>;
using MmaLocalFilter = Nc32Prologue<LocalFilter, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8, AddedRelu>;
using MmaGrouped = Nc32Prologue<Grouped, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8, AddedRelu>;
using MmaPolicies = testing::Types<
    MmaPerSample, MmaLocalFilter, MmaGrouped,
    Nc32Prologue<LocalBlock<1, 16>, NHWC, 64, 64, 64, 32, 32, 3, 4, ToUint8>
#if !WEFT_ONE_OF_EACH_KIND
    ,
    Nc32Prologue<EverythingReversed, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8>,
    Nc32Prologue<PerSample, NCxHWx<4>, 64, 32, 32, 32, 32, 4, 4, ToHSwish>,
    Nc32Prologue<PerSample, NHWC, 128, 64, 64, 64, 32, 3, 4, ToUint8>,
    Nc32Prologue<LocalFilter, NCxHWx<4>, 32, 64, 64, 16, 32, 3, 4, ToHSwish>,
    Nc32Prologue<LocalFilter, NHWC, 32, 64, 64, 32, 32, 3, 1, ToUint8>,
    Nc32Prologue<LocalBlock<2, 3>, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8, AddedReluOfNhwc>,
    Nc32Prologue<LocalBlock<4, 4>, NCxHWx<4>, 64, 64, 64, 32, 32, 3, 4, ToHSwish>,
    Nc32Prologue<Grouped, NCxHWx<4>, 64, 32, 32, 32, 32, 4, 4, ToHSwish>,
    Nc32Prologue<Grouped, NHWC, 64, 64, 64, 32, 32, 3, 1, ToUint8>
#endif
    >;
TYPED_TEST_SUITE(PrologueMma, MmaPolicies, PrologueTestName);

TYPED_TEST(PrologueMma, Corners) {
  RunPrologueCorners<TypeParam>();
}

TYPED_TEST(PrologueMma, Random) {
  RunRandomPrologue<TypeParam>(8, 41);
}

// Filters with more taps than a table of steps would hold.
TEST(PrologueMmaTaps, LargeFilters) {
  Problem p = SquareProblem(2, 40, 8, 20, 7, 3, 2);
  ExpectMatchesReference<MmaPerSample>(p, reference::ReluActivation{});
  ExpectMatchesReference<MmaLocalFilter>(p, reference::ReluActivation{});
  p.c = 64, p.k = 32, p.groups = 2, p.mode = Mode::kConvolution;
  ExpectMatchesReference<MmaGrouped>(p, reference::ReluActivation{});
}

// More images than a tile has rows, and more pixels in a block.
TEST(PrologueMmaRows, MoreThanATile) {
  ExpectMatchesReference<MmaLocalFilter>(SquareProblem(70, 32, 2, 40, 1, 0, 1),
                                         reference::ReluActivation{});
  ExpectMatchesReference<Nc32Prologue<LocalBlock<8, 8>, NCxHWx<32>, 32, 64, 64, 32, 32, 3, 8>>(
      SquareProblem(3, 32, 11, 40, 3, 1, 1), reference::ReluActivation{});
}

template <class P>
class PrologueNhwc : public testing::Test {};

using NhwcPolicies = testing::Types<NhwcPrologue<LocalFilter, NHWC, 32, 64, 16, 1>,
                                    NhwcPrologue<Grouped, NHWC, 64, 64, 4, 4>
#if !WEFT_ONE_OF_EACH_KIND
                                    ,
                                    NhwcPrologue<PerSample, NHWC, 64, 64, 16, 4>,
                                    NhwcPrologue<LocalFilter, NCxHWx<32>, 32, 64, 4, 8>,
                                    NhwcPrologue<LocalBlock<2, 3>, NHWC, 64, 64, 8, 4>,
                                    NhwcPrologue<Grouped, NCxHWx<32>, 64, 64, 16, 8>
#endif
                                    >;
TYPED_TEST_SUITE(PrologueNhwc, NhwcPolicies, PrologueTestName);

TYPED_TEST(PrologueNhwc, Corners) {
  RunPrologueCorners<TypeParam>();
}

TYPED_TEST(PrologueNhwc, Random) {
  RunRandomPrologue<TypeParam>(8, 51);
}

}  // namespace
}  // namespace weft::conv
