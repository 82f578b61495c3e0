// For pseudo-random compile-time layouts every operation gives the same function as for the
// run-time layout with the same numbers.
#include <gtest/gtest.h>

#include "random_layout.hpp"

namespace weft::layouts {
namespace {

// Pseudo-random static layouts: the same recipe as RandomLayout, at compile time. Number `kSeed`.
template <int kSeed, bool kGapped>
constexpr auto StaticLayout() {
  struct Numbers {
    int extent[3];
    int stride[3];
  };
  constexpr Numbers kNumbers = []() constexpr {
    std::uint32_t state = 12345u + 7919u * kSeed;
    const auto next = [&state](std::uint32_t n) constexpr {
      state = state * 1664525u + 1013904223u;
      return static_cast<int>((state >> 16) % n);
    };
    Numbers n{};
    for (int& s : n.extent) s = 1 + next(4);
    int unit = 1;
    const int first = next(3);
    for (int k = 0; k < 3; ++k) {
      const int mode = (first + (kSeed % 2 == 0 ? k : 2 * k)) % 3;
      if (kGapped && next(2) == 0) unit *= 1 + next(3);
      n.stride[mode] = unit;
      unit *= n.extent[mode];
      if (kGapped && kSeed % 5 == 4 && k == 1) n.stride[mode] = 0;
    }
    return n;
  }();
  constexpr Int<kNumbers.extent[0]> s0;
  constexpr Int<kNumbers.extent[1]> s1;
  constexpr Int<kNumbers.extent[2]> s2;
  constexpr Int<kNumbers.stride[0]> d0;
  constexpr Int<kNumbers.stride[1]> d1;
  constexpr Int<kNumbers.stride[2]> d2;
  if constexpr (kSeed % 3 == 0) {
    return MakeLayout(MakeTuple(s0, s1, s2), MakeTuple(d0, d1, d2));
  } else if constexpr (kSeed % 3 == 1) {
    return MakeLayout(MakeTuple(MakeTuple(s0, s1), s2), MakeTuple(MakeTuple(d0, d1), d2));
  } else {
    return MakeLayout(MakeTuple(s0, MakeTuple(s1, s2)), MakeTuple(d0, MakeTuple(d1, d2)));
  }
}

template <class L>
constexpr auto AsDynamic(const L& layout) {
  const auto number = [](auto x) constexpr { return static_cast<int>(x); };
  return MakeLayout(TransformLeaves(layout.shape(), number),
                    TransformLeaves(layout.stride(), number));
}

// The static result s and the dynamic result d are the same function.
template <class StaticResult, class DynamicResult>
void ExpectSame(const StaticResult& s, const DynamicResult& d) {
  static_assert(IsStatic<StaticResult>);
  EXPECT_EQ(testing::Values(s), testing::Values(d)) << ToString(s) << " and " << ToString(d);
}

// A complement may reach past the size asked for, by how far depends on which extents are known.
template <class L>
std::vector<std::int64_t> ValuesBelow(std::int64_t end, const L& layout) {
  std::vector<std::int64_t> values = testing::Values(layout);
  std::erase_if(values, [end](std::int64_t x) { return x >= end; });
  return values;
}

template <int kSeed>
void CheckUnary() {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  constexpr auto s = StaticLayout<kSeed, true>();
  const auto d = AsDynamic(s);
  ExpectSame(s, d);
  ExpectSame(Coalesce(s), Coalesce(d));
  ExpectSame(RightInverse(s), RightInverse(d));
  ASSERT_EQ(IsComplementable(s), IsComplementable(d));
  if constexpr (IsComplementable(s)) {
    ExpectSame(Complement(s, kInt<100>), Complement(d, 100));
    // Static strides with a run-time size, and run-time extents with static strides.
    EXPECT_EQ(testing::Values(Complement(s, 100)), testing::Values(Complement(d, 100)));
    const auto mixed = MakeLayout(d.shape(), s.stride());
    EXPECT_EQ(ValuesBelow(100, Complement(mixed, 100)), ValuesBelow(100, Complement(d, 100)));
  }
  if constexpr (IsLeftInvertible(s)) ExpectSame(LeftInverse(s), LeftInverse(d));
}

template <int kSeed>
void CheckBinary() {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  constexpr auto a = StaticLayout<kSeed, true>();
  constexpr auto b = StaticLayout<kSeed + 1000, false>();
  constexpr auto da = AsDynamic(a), db = AsDynamic(b);
  // Merging can make a static layout composable where its unmerged run-time twin is not.
  if constexpr (IsComposable(a, b) && Cosize(b) <= Size(a)) {
    if (IsComposable(da, db)) ExpectSame(Composition(a, b), Composition(da, db));
    constexpr auto mixed = MakeLayout(a.shape(), da.stride());
    if constexpr (IsComposable(mixed, b)) {
      EXPECT_EQ(testing::Values(Composition(mixed, b)), testing::Values(Composition(a, b)));
    }
    const std::vector<std::int64_t> inner = testing::Values(b);
    for (std::size_t i = 0; i < inner.size(); ++i) EXPECT_EQ(Composition(a, b)(i), a(inner[i]));
  }
  constexpr auto tile = MakeLayout(Size<0>(b), Int<1 + kSeed % 2>{});
  constexpr auto both = MakeLayout(tile, Complement(tile, Size(a)));
  if constexpr (IsComposable(a, both) && Cosize(both) <= Size(a)) {
    const auto dt = AsDynamic(tile);
    if (IsComposable(da, MakeLayout(dt, Complement(dt, Size(da))))) {
      ExpectSame(LogicalDivide(a, tile), LogicalDivide(da, dt));
    }
  }
  if constexpr (IsComplementable(a)) {
    if constexpr (IsComposable(Complement(a, Size(a) * Cosize(b)), b)) {
      if (IsComposable(Complement(da, Size(da) * Cosize(db)), db)) {
        ExpectSame(LogicalProduct(a, b), LogicalProduct(da, db));
        ExpectSame(BlockedProduct(Flatten(b), Flatten(b)),
                   BlockedProduct(Flatten(db), Flatten(db)));
      }
    }
  }
}

TEST(StaticLayouts, UnaryOperationsAgreeWithRunTimeOnes) {
  [&]<int... kSeeds>(std::integer_sequence<int, kSeeds...>) {
    (CheckUnary<kSeeds>(), ...);
  }(std::make_integer_sequence<int, 24>{});
}

TEST(StaticLayouts, BinaryOperationsAgreeWithRunTimeOnes) {
  [&]<int... kSeeds>(std::integer_sequence<int, kSeeds...>) {
    (CheckBinary<kSeeds>(), ...);
  }(std::make_integer_sequence<int, 14>{});
}

}  // namespace
}  // namespace weft::layouts
