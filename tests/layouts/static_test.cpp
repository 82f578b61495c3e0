// The algebra on compile-time layouts: examples worked by hand, and their text.
#include <gtest/gtest.h>

#include "weft/layouts/print.hpp"

namespace weft::layouts {
namespace {

// Hand-checked examples. Comparing with run-time numbers compares values and nesting.
template <std::int64_t... N>
constexpr auto S() {
  return MakeTuple(kInt<N>...);
}

static_assert(Coalesce(MakeLayout(MakeTuple(kInt<2>, S<1, 6>()), MakeTuple(kInt<1>, S<6, 2>()))) ==
              MakeLayout(12, 1));
static_assert(Coalesce(MakeLayout(S<2, 3>(), S<3, 1>())) == MakeLayout(S<2, 3>(), S<3, 1>()));
static_assert(Coalesce(MakeLayout(S<1, 1>(), S<7, 9>())) == MakeLayout(1, 0));
static_assert(Coalesce(MakeLayout(S<4, 5>(), S<0, 0>())) == MakeLayout(20, 0));
// A static merge inside a layout with a run-time extent; the run-time mode stays.
static_assert(Coalesce(MakeLayout(MakeTuple(kInt<2>, kInt<4>, 5),
                                  MakeTuple(kInt<1>, kInt<2>, 9))) ==
              MakeLayout(MakeTuple(8, 5), MakeTuple(1, 9)));
static_assert(CoalesceModes(MakeLayout(MakeTuple(S<2, 3>(), kInt<4>),
                                       MakeTuple(S<1, 2>(), kInt<6>))) ==
              MakeLayout(MakeTuple(6, 4), MakeTuple(1, 6)));

// (6,2):(8,2) o (4,3):(3,1): 0, 3, 6, 9 | 1, ... of 0, 8, ..., 40, 2, 10, ..., 42.
static_assert(Composition(MakeLayout(S<6, 2>(), S<8, 2>()), MakeLayout(S<4, 3>(), S<3, 1>())) ==
              MakeLayout(MakeTuple(MakeTuple(2, 2), 3), MakeTuple(MakeTuple(24, 2), 8)));
static_assert(Composition(MakeLayout(kInt<20>, kInt<2>), MakeLayout(S<5, 4>(), S<4, 1>())) ==
              MakeLayout(MakeTuple(5, 4), MakeTuple(8, 2)));
static_assert(Composition(MakeLayout(S<10, 2>(), S<16, 4>()), MakeLayout(S<5, 4>(), S<1, 5>())) ==
              MakeLayout(MakeTuple(5, MakeTuple(2, 2)), MakeTuple(16, MakeTuple(80, 4))));
// All steps in one digit: neither 3 nor 4 divides the other, and nothing straddles.
static_assert(Composition(MakeLayout(S<4, 2>(), S<1, 10>()), MakeLayout(kInt<2>, kInt<3>)) ==
              MakeLayout(2, 3));
static_assert(Composition(MakeLayout(S<4, 2>(), S<1, 10>()), MakeLayout(kInt<3>, kInt<0>)) ==
              MakeLayout(3, 0));
static_assert(Composition(MakeLayout(S<12, 32>(), S<59, 13>()), MakeTuple(kInt<3>, _)) ==
              MakeLayout(MakeTuple(3, 32), MakeTuple(59, 13)));
static_assert(!IsComposable(MakeLayout(S<4, 6>(), S<1, 10>()), MakeLayout(kInt<6>, kInt<1>)));
static_assert(!IsComposable(MakeLayout(S<4, 6>(), S<1, 10>()), MakeLayout(kInt<4>, kInt<3>)));
static_assert(!IsComposable(MakeLayout(S<4, 6>(), S<1, 10>()), MakeLayout(S<4, 4>(), S<1, 1>())));

static_assert(Complement(MakeLayout(kInt<4>, kInt<1>), kInt<24>) == MakeLayout(6, 4));
static_assert(Complement(MakeLayout(kInt<6>, kInt<4>), kInt<24>) == MakeLayout(4, 1));
static_assert(Complement(MakeLayout(S<4, 6>(), S<1, 4>()), kInt<24>) == MakeLayout(1, 0));
static_assert(Complement(MakeLayout(kInt<4>, kInt<2>), kInt<24>) ==
              MakeLayout(MakeTuple(2, 3), MakeTuple(1, 8)));
static_assert(Complement(MakeLayout(S<2, 4>(), S<1, 6>()), kInt<24>) == MakeLayout(3, 2));
static_assert(Complement(MakeLayout(S<2, 2>(), S<1, 6>()), kInt<24>) ==
              MakeLayout(MakeTuple(3, 2), MakeTuple(2, 12)));
static_assert(Complement(MakeLayout(S<3, 4>(), S<0, 1>()), kInt<24>) == MakeLayout(6, 4));
// A run-time size keeps all that is known: the stride 4 here.
static_assert(IsInt<decltype(Complement(MakeLayout(kInt<4>), 24).stride()), 4>);
static_assert(!IsComplementable(MakeLayout(S<2, 2>(), S<1, 3>())));
static_assert(!IsComplementable(MakeLayout(S<4, 4>(), S<1, 2>())));

static_assert(RightInverse(MakeLayout(S<4, 2, 3>(), S<2, 1, 8>())) ==
              MakeLayout(MakeTuple(2, 4, 3), MakeTuple(4, 1, 8)));
static_assert(RightInverse(MakeLayout(S<4, 8>(), S<1, 5>())) == MakeLayout(4, 1));
static_assert(RightInverse(MakeLayout(kInt<4>, kInt<2>)) == MakeLayout(1, 0));
static_assert(LeftInverse(MakeLayout(kInt<4>, kInt<2>)) ==
              MakeLayout(MakeTuple(2, 4), MakeTuple(4, 1)));
static_assert(!IsLeftInvertible(MakeLayout(S<2, 3>(), S<0, 1>())));

static_assert(LogicalDivide(MakeLayout(S<4, 2, 3>(), S<2, 1, 8>()), MakeLayout(kInt<4>, kInt<2>)) ==
              MakeLayout(MakeTuple(MakeTuple(2, 2), MakeTuple(2, 3)),
                         MakeTuple(MakeTuple(4, 1), MakeTuple(2, 8))));
constexpr auto kTall = MakeLayout(MakeTuple(kInt<9>, S<4, 8>()), MakeTuple(kInt<59>, S<13, 1>()));
constexpr auto kTiler = MakeTuple(MakeLayout(kInt<3>, kInt<3>), MakeLayout(S<2, 4>(), S<1, 8>()));
static_assert(ZippedDivide(kTall, kTiler) ==
              MakeLayout(MakeTuple(MakeTuple(3, MakeTuple(2, 4)), MakeTuple(3, MakeTuple(2, 2))),
                         MakeTuple(MakeTuple(177, MakeTuple(13, 2)),
                                   MakeTuple(59, MakeTuple(26, 1)))));
static_assert(TiledDivide(MakeLayout(MakeTuple(8, 6, 5), MakeTuple(1, 8, 48)), S<4, 2>()).shape() ==
              MakeTuple(MakeTuple(4, 2), 2, 3, 5));
// Run-time extents, static tile: the tile stays static, the rest is rounded up.
static_assert(ZippedDivide(MakeLayout(MakeTuple(10, 6)), S<4, 2>()) ==
              MakeLayout(MakeTuple(MakeTuple(4, 2), MakeTuple(3, 3)),
                         MakeTuple(MakeTuple(1, 10), MakeTuple(4, 20))));
static_assert(
    IsStatic<decltype(Get<0>(ZippedDivide(MakeLayout(MakeTuple(10, 6)), S<4, 2>())).shape())>);

static_assert(LogicalProduct(MakeLayout(S<2, 2>(), S<4, 1>()), kInt<6>) ==
              MakeLayout(MakeTuple(MakeTuple(2, 2), MakeTuple(2, 3)),
                         MakeTuple(MakeTuple(4, 1), MakeTuple(2, 8))));
// Copies 0 and 2 of 0 2 4 6: copy 1 lies in its gaps, copy 2 after its end.
static_assert(LogicalProduct(MakeLayout(kInt<4>, kInt<2>), MakeLayout(kInt<2>, kInt<2>)) ==
              MakeLayout(MakeTuple(4, 2), MakeTuple(2, 8)));
static_assert(BlockedProduct(MakeLayout(S<2, 5>(), S<5, 1>()), MakeLayout(S<3, 4>(), S<1, 3>())) ==
              MakeLayout(MakeTuple(MakeTuple(2, 3), MakeTuple(5, 4)),
                         MakeTuple(MakeTuple(5, 10), MakeTuple(1, 30))));
static_assert(RakedProduct(MakeLayout(S<2, 5>(), S<5, 1>()), MakeLayout(S<3, 4>(), S<1, 3>())) ==
              MakeLayout(MakeTuple(MakeTuple(3, 2), MakeTuple(4, 5)),
                         MakeTuple(MakeTuple(10, 5), MakeTuple(30, 1))));

// Row r of eight 16-byte chunks is read in the order chunk ^ r.
constexpr auto kSwizzled = Composition(Swizzle<3, 0, 3>{}, MakeLayout(S<8, 8>(), RowMajor{}));
static_assert(kSwizzled(5, 3) == 5 * 8 + (3 ^ 5));
static_assert(IsInt<decltype(kSwizzled(kInt<5>, kInt<3>)), 46>);
static_assert(kSwizzled(5, _)(3) == kSwizzled(5, 3));
static_assert(std::is_empty_v<decltype(kSwizzled)> && Cosize(kSwizzled) == 64);

TEST(Print, ShowsWhatIsStatic) {
  EXPECT_EQ(ToString(MakeLayout(MakeTuple(kInt<4>, MakeTuple(2, kInt<3>)),
                                MakeTuple(kInt<1>, MakeTuple(4, 8)))),
            "(_4,(2,_3)):(_1,(4,8))");
  EXPECT_EQ(ToString(MakeTuple(_, 3)), "(_,3)");
  EXPECT_EQ(ToString(kSwizzled), "Swizzle<3,0,3> o _0 o (_8,_8):(_8,_1)");
  EXPECT_EQ(ToTable(MakeLayout(MakeTuple(4, 2), MakeTuple(4, 1))),
            "(4,2):(4,1)\n"
            "      0   1\n"
            "   --------\n"
            "0 |   0   1\n"
            "1 |   4   5\n"
            "2 |   8   9\n"
            "3 |  12  13\n");
}

}  // namespace
}  // namespace weft::layouts
