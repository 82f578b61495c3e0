// The identities that define the algebra's operations, over random layouts with run-time extents.
#include <gtest/gtest.h>

#include "random_layout.hpp"

namespace weft::layouts {
namespace {

using testing::ForRandomCases;
using testing::Image;
using testing::Kind;
using testing::RandomKind;
using testing::RandomLayout;
using testing::Rng;
using testing::Uniform;
using testing::Values;

// How many cases satisfied an operation's condition: a property that holds for nothing is no test.
struct Counter {
  int admitted = 0;
  ~Counter() { EXPECT_GT(admitted, 100); }
};

TEST(Coalesce, KeepsTheFunctionAndNeverDeepens) {
  ForRandomCases(300, []<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
    const auto c = Coalesce(a);
    static_assert(kDepth<decltype(c)> <= 1 && kDepth<decltype(c)> <= kDepth<decltype(a)>);
    ASSERT_EQ(Values(a), Values(c)) << ToString(a);
    ASSERT_EQ(Values(a), Values(CoalesceModes(a))) << ToString(a);
    static_assert(kRank<decltype(CoalesceModes(a))> == kRank<decltype(a)>);
  });
}

TEST(Composition, IsApplyingOneAfterTheOther) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    ForEach(testing::SmallProfiles{}, [&](auto other) {
      const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
      const auto b = RandomLayout<decltype(other)>(rng, RandomKind(rng), 4);
      if (!IsComposable(a, b)) return;
      ++cases.admitted;
      const auto r = Composition(a, b);
      static_assert(WeaklyCongruent<decltype(b.shape()), decltype(r.shape())>);
      EXPECT_TRUE(Compatible(b.shape(), r.shape())) << ToString(a) << " o " << ToString(b);
      for (int i = 0; i < Size(b); ++i) {
        EXPECT_EQ(r(i), a(b(i))) << ToString(a) << " o " << ToString(b) << " at " << i;
      }
    });
  });
}

TEST(Composition, IsAssociative) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, Kind::kGapped);
    const auto b = RandomLayout<Tuple<int, int>>(rng, Kind::kCompact, 3);
    const auto c = MakeLayout(Uniform(rng, 1, 3), Uniform(rng, 1, 3));
    if (Cosize(c) > Size(b)) return;  // past its end, b walks on along its own last mode
    if (!IsComposable(b, c) || !IsComposable(a, b)) return;
    if (!IsComposable(a, Composition(b, c)) || !IsComposable(Composition(a, b), c)) return;
    ++cases.admitted;
    ASSERT_EQ(Values(Composition(Composition(a, b), c)), Values(Composition(a, Composition(b, c))));
  });
}

// What IsComposable turns down is not computed rightly by the digit walk, and what it accepts is:
// the condition is neither too weak nor, on single modes, too strong.
TEST(Composition, TheConditionIsExactForOneModeOverTwo) {
  for (int s0 = 1; s0 <= 6; ++s0) {
    for (int s1 = 1; s1 <= 4; ++s1) {
      for (int s = 1; s <= 12; ++s) {
        for (int d = 0; d <= 12; ++d) {
          const auto a = MakeLayout(MakeTuple(s0, s1), MakeTuple(1, 100));  // cannot be merged
          const auto b = MakeLayout(s, d);
          if (Cosize(b) > s0 * s1) continue;
          const auto r = Composition(a, b);
          bool equal = Size(r) == s;
          for (int i = 0; i < s && equal; ++i) equal = r(i) == a(i * d);
          EXPECT_EQ(IsComposable(a, b), equal) << ToString(a) << " o " << ToString(b);
        }
      }
    }
  }
}

TEST(Composition, ATilerActsModeByMode) {
  ForRandomCases(200, []<class Profile>(Rng& rng) {
    if constexpr (kRank<Profile> >= 2) {
      const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
      const auto first = MakeLayout(1, 1);
      const auto r = Composition(a, MakeTuple(first, _));
      static_assert(kRank<decltype(r)> == kRank<Profile>);
      for (int j = 0; j < Size<1>(a); ++j) ASSERT_EQ(Get<1>(r)(j), Get<1>(a)(j));
      ASSERT_EQ(Size<0>(r), 1);
    }
  });
}

TEST(Complement, IsDisjointOrderedAndFills) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
    if (!IsComplementable(a)) return;
    ++cases.admitted;
    const int cosize = Cosize(a);
    const int m = Uniform(rng, 1, 4 * cosize);
    const auto b = Complement(a, m);
    SCOPED_TRACE(ToString(a) + " in " + std::to_string(m) + ": " + ToString(b));
    const auto values = Values(b);
    for (std::size_t j = 0; j + 1 < values.size(); ++j) ASSERT_LT(values[j], values[j + 1]);
    ASSERT_EQ(values[0], 0);
    // Every pair of a value of a and a value of b has a sum of its own, and they cover [0, m).
    std::set<std::int64_t> sums;
    const auto image = Image(a);
    for (const auto x : image) {
      for (const auto y : values) ASSERT_TRUE(sums.insert(x + y).second) << x << " + " << y;
    }
    for (int offset = 0; offset < m; ++offset) ASSERT_TRUE(sums.count(offset)) << offset;
    // No larger than it must be: filling [0, m) needs no further copy of what ends at the end of a.
    ASSERT_LT(*sums.rbegin(), m + static_cast<std::int64_t>(sums.size()) / Size(b) * cosize);
  });
}

TEST(Complement, WithTheLayoutIsABijectionWhereItFits) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, Kind::kGapped);
    // The end of the mode with the largest stride: a's own period.
    const auto probe = Complement(a, 1);
    const int period = static_cast<int>(Size(a) * Size(probe));
    const int m = period * Uniform(rng, 1, 3);
    const auto both = MakeLayout(a, Complement(a, m));
    ++cases.admitted;
    ASSERT_EQ(Size(both), m) << ToString(both);
    ASSERT_TRUE(testing::IsInjective(both)) << ToString(both);
    ASSERT_EQ(*Image(both).rbegin(), m - 1) << ToString(both);
  });
}

TEST(RightInverse, UndoesTheLayoutFromTheRight) {
  ForRandomCases(300, []<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
    const auto r = RightInverse(a);
    ASSERT_LE(Size(r), Size(a));
    for (int i = 0; i < Size(r); ++i) {
      ASSERT_EQ(a(r(i)), i) << ToString(a) << " has " << ToString(r);
    }
  });
  ForRandomCases(100, []<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, Kind::kCompact);
    ASSERT_EQ(Size(RightInverse(a)), Size(a)) << ToString(a);
  });
}

// For injective layouts that can be complemented no longer right inverse exists as a layout: the
// next offset is not taken, or is taken by no whole mode.
TEST(RightInverse, IsAsLongAsWholeModesAllow) {
  Counter cases;
  ForRandomCases(200, [&]<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, Kind::kGapped);
    const auto image = Image(a);
    const int size = Size(RightInverse(a));
    ++cases.admitted;
    if (size < Size(a)) {
      ASSERT_FALSE(image.count(size)) << ToString(a);
    }
  });
}

TEST(LeftInverse, UndoesTheLayoutFromTheLeft) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
    if (!IsLeftInvertible(a)) return;
    ++cases.admitted;
    const auto l = LeftInverse(a);
    for (int i = 0; i < Size(a); ++i) {
      ASSERT_EQ(l(a(i)), i) << ToString(a) << " has " << ToString(l);
    }
  });
}

TEST(LogicalDivide, IsTheTileAndWhereTheTilesAre) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    ForEach(testing::SmallProfiles{}, [&](auto other) {
      const auto a = RandomLayout<Profile>(rng, RandomKind(rng));
      const auto b = RandomLayout<decltype(other)>(rng, Kind::kGapped, 3);
      const auto rest = Complement(b, Size(a));
      const auto both = MakeLayout(b, rest);
      if (!IsComposable(a, both)) return;
      ++cases.admitted;
      const auto divided = LogicalDivide(a, b);
      const std::string trace = ToString(a) + " by " + ToString(b);
      EXPECT_EQ(Size<0>(divided), Size(b)) << trace;
      for (int i = 0; i < Size(b); ++i) {
        for (int j = 0; j < Size(rest); ++j) {
          EXPECT_EQ(divided(i, j), a(b(i) + rest(j))) << trace << " at " << i << ", " << j;
        }
      }
      // Where the tile's period divides the layout, every element is in exactly one tile.
      if (Size(divided) == Size(a)) {
        auto mine = Values(divided), theirs = Values(a);
        std::sort(mine.begin(), mine.end());
        std::sort(theirs.begin(), theirs.end());
        EXPECT_EQ(mine, theirs) << trace;
      }
    });
  });
}

TEST(ZippedDivide, AndItsVariantsReorderTheModesOnly) {
  ForRandomCases(300, []<class>(Rng& rng) {
    const int tm = Uniform(rng, 1, 4), tn = Uniform(rng, 1, 4);
    const int rm = Uniform(rng, 1, 4), rn = Uniform(rng, 1, 4), l = Uniform(rng, 1, 3);
    const auto a = MakeLayout(MakeTuple(tm * rm, tn * rn, l),
                              MakeTuple(Uniform(rng, 0, 99), Uniform(rng, 0, 99), 1000));
    const auto tiler = MakeTuple(tm, MakeLayout(tn, rn));  // tn elements, rn apart
    const auto logical = LogicalDivide(a, tiler);
    const auto zipped = ZippedDivide(a, tiler);
    const auto tiled = TiledDivide(a, tiler);
    const auto flat = FlatDivide(a, tiler);
    ASSERT_EQ(kRank<decltype(zipped)>, 2u);
    ASSERT_EQ(kRank<decltype(tiled)>, 4u);
    ASSERT_EQ(kRank<decltype(flat)>, 5u);
    for (int i = 0; i < tm; ++i) {
      for (int j = 0; j < tn; ++j) {
        for (int x = 0; x < rm; ++x) {
          for (int y = 0; y < rn; ++y) {
            const int want = a(i + tm * x, rn * j + y, l - 1);
            ASSERT_EQ(logical(MakeTuple(i, x), j + tn * y, l - 1), want);
            ASSERT_EQ(zipped(MakeTuple(i, j), MakeTuple(x, y, l - 1)), want);
            ASSERT_EQ(tiled(MakeTuple(i, j), x, y, l - 1), want);
            ASSERT_EQ(flat(i, j, x, y, l - 1), want);
          }
        }
      }
    }
  });
}

TEST(LogicalProduct, RepeatsTheTileWithoutOverlap) {
  Counter cases;
  ForRandomCases(300, [&]<class Profile>(Rng& rng) {
    ForEach(testing::SmallProfiles{}, [&](auto other) {
      const auto a = RandomLayout<Profile>(rng, RandomKind(rng), 4);
      const auto b = RandomLayout<decltype(other)>(rng, Kind::kGapped, 3);
      if (!IsComplementable(a)) return;
      const auto rest = Complement(a, Size(a) * Cosize(b));
      if (!IsComposable(rest, b)) return;
      ++cases.admitted;
      const auto product = LogicalProduct(a, b);
      const std::string trace = ToString(a) + " times " + ToString(b);
      EXPECT_TRUE(Compatible(b.shape(), Get<1>(product.shape()))) << trace;
      std::set<std::int64_t> all;
      const auto image = Image(a);
      for (int j = 0; j < Size(b); ++j) {
        // Copy j is the tile moved to the place of copy number b(j), in the order of the places.
        EXPECT_EQ(Get<1>(product)(j), rest(b(j))) << trace;
        for (int i = 0; i < Size(a); ++i) {
          EXPECT_EQ(product(i, j), a(i) + rest(b(j))) << trace;
          all.insert(product(i, j));
        }
      }
      EXPECT_EQ(all.size(), image.size() * Size(b)) << trace;
    });
  });
}

TEST(BlockedProduct, PutsTilesSideBySideAndRakedInterleavesThem) {
  ForRandomCases(300, []<class>(Rng& rng) {
    const auto a = RandomLayout<Tuple<int, int>>(rng, Kind::kCompact);
    const auto b = RandomLayout<Tuple<int, int>>(rng, Kind::kCompact);
    const int am = Size<0>(a), an = Size<1>(a), bm = Size<0>(b), bn = Size<1>(b);
    const auto blocked = BlockedProduct(a, b);
    const auto raked = RakedProduct(a, b);
    ASSERT_EQ(Size<0>(blocked), am * bm);
    ASSERT_EQ(Size<1>(raked), an * bn);
    for (int i = 0; i < am; ++i) {
      for (int j = 0; j < an; ++j) {
        for (int x = 0; x < bm; ++x) {
          for (int y = 0; y < bn; ++y) {
            const int want = a(i, j) + Size(a) * b(x, y);
            ASSERT_EQ(blocked(i + am * x, j + an * y), want) << ToString(a) << " " << ToString(b);
            ASSERT_EQ(raked(x + bm * i, y + bn * j), want) << ToString(a) << " " << ToString(b);
          }
        }
      }
    }
  });
}

template <int kBits, int kBase, int kShift>
void CheckSwizzle() {
  const Swizzle<kBits, kBase, kShift> swizzle;
  const int period = swizzle.kPeriod;
  const int source = kShift >= 0 ? kBase + kShift : kBase;
  const int target = kShift >= 0 ? kBase : kBase - kShift;
  for (int first = 0; first < 4 * period && first < 1 << 14; first += period) {
    std::set<int> image;
    for (int x = first; x < first + period; ++x) {
      const int y = swizzle(x);
      image.insert(y);
      ASSERT_EQ(swizzle(y), x);
      // Bit by bit: target bits are exclusive ors, the others stay.
      for (int bit = 0; bit < 20; ++bit) {
        const bool in = bit >= target && bit < target + kBits;
        const int want = (x >> bit & 1) ^ (in ? x >> (bit - target + source) & 1 : 0);
        ASSERT_EQ(y >> bit & 1, want) << x;
      }
    }
    ASSERT_EQ(static_cast<int>(image.size()), period);
    ASSERT_EQ(*image.begin(), first);
    ASSERT_EQ(*image.rbegin(), first + period - 1);
  }
}

TEST(Swizzle, IsItsOwnInverseAndABijection) {
  CheckSwizzle<0, 4, 3>();
  CheckSwizzle<1, 4, 3>();
  CheckSwizzle<2, 4, 3>();
  CheckSwizzle<3, 4, 3>();
  CheckSwizzle<2, 0, 3>();
  CheckSwizzle<3, 3, 3>();
  CheckSwizzle<2, 1, -3>();
  CheckSwizzle<3, 0, -5>();
}

TEST(ComposedLayout, SlicesAndDividesLikeTheLayoutInside) {
  ForRandomCases(200, []<class>(Rng& rng) {
    const auto inner = RandomLayout<Tuple<int, int>>(rng, Kind::kCompact, 8);
    const auto c = MakeComposedLayout(Swizzle<2, 1, 2>{}, Uniform(rng, 0, 20), inner);
    const Swizzle<2, 1, 2> swizzle;
    for (int i = 0; i < Size(c); ++i) {
      ASSERT_EQ(c(i), swizzle(c.offset() + inner(i)));
      ASSERT_LT(c(i), Cosize(c));
    }
    for (int j = 0; j < Size<1>(c); ++j) {
      const auto column = c(_, j);
      for (int i = 0; i < Size<0>(c); ++i) ASSERT_EQ(column(i), c(i, j));
    }
    const auto tiled = ZippedDivide(c, MakeTuple(1, _));
    for (int i = 0; i < Size<0>(c); ++i) {
      for (int j = 0; j < Size<1>(c); ++j) {
        ASSERT_EQ(tiled(MakeTuple(0, j), MakeTuple(i, 0)), c(i, j));
      }
    }
  });
}

}  // namespace
}  // namespace weft::layouts
