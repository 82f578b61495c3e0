// The formats' offset functions and the formats as layouts agree element by element.
#include "weft/layouts/format_layouts.hpp"

#include <gtest/gtest.h>

#include "random_layout.hpp"

namespace weft::layouts {
namespace {

using testing::Uniform;

static_assert(FormatLayout<NCxHWx<4>>({.n = 2, .c = 6, .h = 3, .w = 5}) ==
              MakeLayout(MakeTuple(2, MakeTuple(4, 2), 3, 5),
                         MakeTuple(120, MakeTuple(1, 60), 20, 4)));
static_assert(FormatLayout<CxRSKx<4>>({.k = 6, .c = 6, .r = 3, .s = 5}) ==
              MakeLayout(MakeTuple(8, MakeTuple(4, 2), 3, 5),
                         MakeTuple(4, MakeTuple(1, 480), 160, 32)));
static_assert(FormatLayout<NHWC>({.n = 2, .c = 6, .h = 3, .w = 5}).stride() ==
              MakeTuple(90, 1, 30, 6));

template <class Format>
void CheckActivation(const TensorExtents& e) {
  SCOPED_TRACE(std::string(Format::kName) + " n=" + std::to_string(e.n) + " c=" +
               std::to_string(e.c) + " h=" + std::to_string(e.h) + " w=" + std::to_string(e.w));
  const auto layout = FormatLayout<Format>(e);
  ASSERT_EQ(Size<0>(layout), e.n);
  ASSERT_EQ(Size<1>(layout), Format::PaddedC(e.c));
  ASSERT_EQ(Size(layout), Format::Size(e));
  ASSERT_EQ(Cosize(layout), Format::Size(e));
  for (std::int64_t n = 0; n < e.n; ++n) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t h = 0; h < e.h; ++h) {
        for (std::int64_t w = 0; w < e.w; ++w) {
          ASSERT_EQ(layout(n, c, h, w), Format::Offset(e, n, c, h, w));
        }
      }
    }
  }
}

template <class Format>
void CheckFilter(const FilterExtents& e) {
  SCOPED_TRACE(std::string(Format::kName) + " k=" + std::to_string(e.k) + " c=" +
               std::to_string(e.c) + " r=" + std::to_string(e.r) + " s=" + std::to_string(e.s));
  const auto layout = FormatLayout<Format>(e);
  ASSERT_EQ(Size(layout), Format::Size(e));
  ASSERT_EQ(Cosize(layout), Format::Size(e));
  for (std::int64_t k = 0; k < e.k; ++k) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t r = 0; r < e.r; ++r) {
        for (std::int64_t s = 0; s < e.s; ++s) {
          ASSERT_EQ(layout(k, c, r, s), Format::Offset(e, k, c, r, s));
        }
      }
    }
  }
}

TEST(FormatLayouts, AgreeWithTheOffsetFunctions) {
  for (int seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::Rng rng(seed);
    const TensorExtents a = {Uniform(rng, 1, 3), Uniform(rng, 1, 70), Uniform(rng, 1, 6),
                             Uniform(rng, 1, 6)};
    CheckActivation<NCxHWx<4>>(a);
    CheckActivation<NCxHWx<32>>(a);
    CheckActivation<NCxHWx<64>>(a);
    CheckActivation<NHWC>(a);
    CheckActivation<NCHW>(a);
    const FilterExtents f = {Uniform(rng, 1, 40), Uniform(rng, 1, 70), Uniform(rng, 1, 4),
                             Uniform(rng, 1, 4)};
    CheckFilter<CxRSKx<4>>(f);
    CheckFilter<CxRSKx<32>>(f);
    CheckFilter<CxRSKx<64>>(f);
    CheckFilter<KRSC>(f);
    CheckFilter<KCRS>(f);
    if (HasFailure()) return;
  }
}

TEST(FormatLayouts, ReachPastTwoToThe31) {
  const TensorExtents e = {.n = 4096, .c = 64, .h = 224, .w = 224};
  EXPECT_EQ(FormatLayout<NCxHWx<32>>(e)(4095, 63, 223, 223),
            NCxHWx<32>::Offset(e, 4095, 63, 223, 223));
  EXPECT_EQ(Size(FormatLayout<NHWC>(e)), std::int64_t{4096} * 64 * 224 * 224);
}

// The algebra at work: reading format A in the order of format B is a composition with an inverse.
TEST(FormatLayouts, TheInverseTurnsAnOffsetBackIntoACoordinate) {
  const TensorExtents e = {.n = 2, .c = 12, .h = 3, .w = 5};
  const auto blocked = FormatLayout<NCxHWx<4>>(e);
  const auto back = RightInverse(blocked);
  ASSERT_EQ(Size(back), Size(blocked));
  for (std::int64_t offset = 0; offset < Size(blocked); ++offset) {
    const auto coord = ToFlatCoord(back(offset), blocked.shape());
    EXPECT_EQ(NCxHWx<4>::Offset(e, Get<0>(coord), Get<1>(coord), Get<2>(coord), Get<3>(coord)),
              offset);
  }
}

}  // namespace
}  // namespace weft::layouts
