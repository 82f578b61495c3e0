// Layout as a function: coordinates, conversions, slices, selection.
#include <gtest/gtest.h>

#include "random_layout.hpp"

namespace weft::layouts {
namespace {

using testing::ForRandomCases;
using testing::RandomKind;
using testing::RandomLayout;
using testing::Rng;
using testing::Uniform;

// The tuple at hand is stored without padding or tags; static numbers take no room.
static_assert(std::is_empty_v<decltype(MakeTuple(kInt<2>, MakeTuple(kInt<2>, kInt<3>)))>);
static_assert(sizeof(MakeTuple(kInt<2>, MakeTuple(3, kInt<4>), 5)) == 2 * sizeof(int));
static_assert(std::is_empty_v<decltype(MakeLayout(kInt<4>, kInt<2>))>);
static_assert(std::is_trivially_copyable_v<decltype(MakeLayout(MakeTuple(4, kInt<2>)))>);

static_assert(IsInt<decltype(kInt<4> * kInt<3> - kInt<2>), 10>);
static_assert(std::is_same_v<decltype(kInt<4> * 3), int>);
static_assert(std::is_same_v<decltype(kInt<4> * std::int64_t{3}), std::int64_t>);
static_assert(std::is_same_v<decltype(kInt<(1LL << 40)> * 3), std::int64_t>);
static_assert(IsInt<decltype(CeilDiv(kInt<10>, kInt<4>)), 3> && CeilDiv(10, kInt<4>) == 3);
static_assert(IsInt<decltype(Min(kInt<3>, kInt<5>)), 3> && Max(kInt<3>, 5) == 5);
static_assert(std::is_same_v<decltype(MakeTuple(std::size_t{3}, short{2})),
                             Tuple<std::int64_t, std::int32_t>>);

constexpr auto kTuple = MakeTuple(kInt<2>, MakeTuple(3, kInt<4>), 5);
static_assert(Get<1, 1>(kTuple) == 4 && Get<0>(7) == 7);
static_assert(Flatten(kTuple) == MakeTuple(2, 3, 4, 5));
static_assert(Unflatten(Flatten(kTuple), kTuple) == kTuple);
static_assert(Group<0, 2>(kTuple) == MakeTuple(MakeTuple(2, MakeTuple(3, 4)), 5));
static_assert(Take<1, 3>(kTuple) == MakeTuple(MakeTuple(3, 4), 5));
static_assert(Select<2, 0>(kTuple) == MakeTuple(5, 2));
static_assert(Replace<1>(kTuple, 9) == MakeTuple(2, 9, 5));
static_assert(kTuple != MakeTuple(2, 3, 4, 5) && MakeTuple(1, 2) != MakeTuple(1, 3));
static_assert(kRank<decltype(kTuple)> == 3 && kDepth<decltype(kTuple)> == 2 && kDepth<int> == 0);
static_assert(Size(kTuple) == 120 && Size<1>(kTuple) == 12 && Size<1, 1>(kTuple) == 4);
static_assert(Size(MakeTuple()) == 1);

static_assert(Congruent<Tuple<int, Tuple<int, int>>, Tuple<Int<3>, Tuple<int, Int<1>>>>);
static_assert(!Congruent<Tuple<int, int>, Tuple<int, Tuple<int, int>>>);
static_assert(WeaklyCongruent<Tuple<int, int>, Tuple<int, Tuple<int, int>>>);
static_assert(!WeaklyCongruent<Tuple<int, Tuple<int, int>>, Tuple<int, int>>);
static_assert(Compatible(24, MakeTuple(4, 6)));
static_assert(Compatible(MakeTuple(4, 6), MakeTuple(4, MakeTuple(2, 3))));
static_assert(!Compatible(MakeTuple(4, 6), MakeTuple(6, 4)));
static_assert(!Compatible(MakeTuple(4, MakeTuple(2, 3)), MakeTuple(4, 6)));

// (3,(2,3)), the shape of the published coordinate table: index 16 is (1,5) is (1,(1,2)).
constexpr auto kShape = MakeTuple(kInt<3>, MakeTuple(kInt<2>, kInt<3>));
static_assert(IndexToCoord(16, kShape) == MakeTuple(1, MakeTuple(1, 2)));
static_assert(ToFlatCoord(16, kShape) == MakeTuple(1, 5));
static_assert(ToNestedCoord(MakeTuple(1, 5), kShape) == MakeTuple(1, MakeTuple(1, 2)));
static_assert(CoordToIndex(MakeTuple(1, 5), kShape) == 16);
static_assert(IsStatic<decltype(IndexToCoord(kInt<16>, kShape))>);
static_assert(CoordToOffset(MakeTuple(1, 5), kShape, MakeTuple(3, MakeTuple(12, 1))) == 17);

constexpr auto kNested = MakeLayout(MakeTuple(kInt<4>, MakeTuple(kInt<2>, kInt<3>)),
                                    MakeTuple(kInt<2>, MakeTuple(kInt<1>, kInt<8>)));
static_assert(kNested(3, 5) == 23 && kNested(3, MakeTuple(1, 2)) == 23 && kNested(23) == 23);
static_assert(kNested(MakeTuple(1, 2)) == 10);
static_assert(IsInt<decltype(kNested(kInt<3>, kInt<5>)), 23>);
static_assert(IsInt<decltype(Cosize(kNested)), 24> && Cosize(MakeLayout(4, -3)) == 10);
static_assert(Cosize(MakeLayout(MakeTuple(4, 8), MakeTuple(16, 1))) == 56);

static_assert(MakeLayout(MakeTuple(2, 3, 4)).stride() == MakeTuple(1, 2, 6));
static_assert(MakeLayout(MakeTuple(2, 3, 4), RowMajor{}).stride() == MakeTuple(12, 4, 1));
static_assert(MakeLayout(MakeTuple(2, MakeTuple(3, 4)), RowMajor{}).stride() ==
              MakeTuple(12, MakeTuple(4, 1)));
static_assert(MakeLayout(MakeTuple(2, 3, 4), Order<1, 2, 0>{}).stride() == MakeTuple(4, 8, 1));
static_assert(MakeLayout(MakeTuple(2, MakeTuple(3, 4)), Order<1, 0>{}).stride() ==
              MakeTuple(12, MakeTuple(1, 3)));
static_assert(IsInt<decltype(Get<0>(MakeLayout(MakeTuple(4, kInt<8>), RowMajor{}).stride())), 8>);

static_assert(Get<1>(kNested) == MakeLayout(MakeTuple(2, 3), MakeTuple(1, 8)));
static_assert(Get<1, 1>(kNested) == MakeLayout(3, 8));
static_assert(Select<1, 0>(kNested) == MakeLayout(Get<1>(kNested), Get<0>(kNested)));
static_assert(Flatten(kNested) == MakeLayout(MakeTuple(4, 2, 3), MakeTuple(2, 1, 8)));
static_assert(Group<1, 3>(Flatten(kNested)) == kNested);
static_assert(Append(MakeLayout(4, 1), MakeLayout(2, 8)) ==
              MakeLayout(MakeTuple(4, 2), MakeTuple(1, 8)));
static_assert(Replace<0>(kNested, MakeLayout(5, 7)).shape() == MakeTuple(5, MakeTuple(2, 3)));

static_assert(kNested(_, 1) == MakeLayout(MakeTuple(4), MakeTuple(2)));
static_assert(kNested(2, MakeTuple(_, 1)) == MakeLayout(MakeTuple(2), MakeTuple(1)));
static_assert(kNested(2, _) == MakeLayout(MakeTuple(MakeTuple(2, 3)), MakeTuple(MakeTuple(1, 8))));
static_assert(SliceAndOffset(kNested, MakeTuple(2, MakeTuple(_, 1))).offset == 12);

TEST(Layout, EveryKindOfCoordinateNamesTheSameElement) {
  ForRandomCases(200, []<class Profile>(Rng& rng) {
    const auto layout = RandomLayout<Profile>(rng, RandomKind(rng));
    for (int i = 0; i < Size(layout); ++i) {
      const auto nested = IndexToCoord(i, layout.shape());
      const auto flat = ToFlatCoord(i, layout.shape());
      ASSERT_EQ(layout(i), layout(nested)) << ToString(layout);
      ASSERT_EQ(layout(i), layout(flat)) << ToString(layout);
      ASSERT_EQ(i, CoordToIndex(nested, layout.shape()));
      ASSERT_EQ(i, CoordToIndex(flat, layout.shape()));
      ASSERT_TRUE(ToNestedCoord(flat, layout.shape()) == nested);
      // The definition: the sum over the leaves.
      const auto products = Transform(FlattenToTuple(nested), FlattenToTuple(layout.stride()),
                                      [](int c, int d) { return c * d; });
      ASSERT_EQ(layout(i), Fold(products, 0, [](int sum, int x) { return sum + x; }));
    }
  });
}

TEST(Layout, CosizeIsOnePastTheLargestOffset) {
  ForRandomCases(200, []<class Profile>(Rng& rng) {
    const auto layout = RandomLayout<Profile>(rng, RandomKind(rng));
    ASSERT_EQ(Cosize(layout), *testing::Image(layout).rbegin() + 1) << ToString(layout);
  });
}

TEST(Layout, CompactLayoutsAreInvertedByOffsetToCoord) {
  ForRandomCases(200, []<class Profile>(Rng& rng) {
    const auto layout = RandomLayout<Profile>(rng, testing::Kind::kCompact);
    ASSERT_TRUE(testing::IsInjective(layout));
    ASSERT_EQ(Cosize(layout), Size(layout));
    for (int i = 0; i < Size(layout); ++i) {
      const auto coord = OffsetToCoord(layout(i), layout.shape(), layout.stride());
      ASSERT_EQ(i, CoordToIndex(coord, layout.shape())) << ToString(layout);
    }
  });
}

TEST(Layout, SlicesCoverEveryElementExactlyOnce) {
  ForRandomCases(200, []<class Profile>(Rng& rng) {
    const auto layout = RandomLayout<Profile>(rng, RandomKind(rng));
    if constexpr (kRank<Profile> >= 2) {
      // Fix mode 0, then mode 1; the slices' values together are the layout's, in order.
      const auto rest =
          Transform(Take<1, kRank<Profile>>(layout.shape()), [](auto) { return Underscore{}; });
      std::multiset<std::int64_t> seen;
      const std::int64_t rows = Size<0>(layout);
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto slice = SliceAndOffset(layout, Concat(MakeTuple(i), rest));
        ASSERT_EQ(Size(slice.layout) * rows, Size(layout));
        for (std::int64_t j = 0; j < Size(slice.layout); ++j) {
          ASSERT_EQ(slice.layout(j) + slice.offset, layout(i + j * rows)) << ToString(layout);
          seen.insert(slice.layout(j) + slice.offset);
        }
      }
      const auto values = testing::Values(layout);
      ASSERT_EQ(seen, std::multiset<std::int64_t>(values.begin(), values.end()));
    }
  });
}

TEST(Layout, SelectTakeAndGroupKeepTheOffsets) {
  ForRandomCases(100, []<class Profile>(Rng& rng) {
    if constexpr (kRank<Profile> >= 2) {
      const auto layout = RandomLayout<Profile>(rng, RandomKind(rng));
      const int i = Uniform(rng, 0, Size<0>(layout) - 1), j = Uniform(rng, 0, Size<1>(layout) - 1);
      ASSERT_EQ((Select<1, 0>(layout)(j, i)), (Take<0, 2>(layout)(i, j)));
      ASSERT_EQ(testing::Values(layout), testing::Values(Group<0, 2>(layout)));
      ASSERT_EQ(testing::Values(layout), testing::Values(Flatten(layout)));
      ASSERT_EQ(Get<0>(layout)(i) + Get<1>(layout)(j), (Take<0, 2>(layout)(i, j)));
    }
  });
}

TEST(Layout, SixtyFourBitExtentsReachPastTwoToThe31) {
  const auto layout = MakeLayout(MakeTuple(std::int64_t{1} << 20, std::int64_t{1} << 20));
  EXPECT_EQ(Size(layout), std::int64_t{1} << 40);
  EXPECT_EQ(layout(5, (1 << 20) - 1), (((std::int64_t{1} << 20) - 1) << 20) + 5);
}

}  // namespace
}  // namespace weft::layouts
