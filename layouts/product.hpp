// Product: a layout repeated after the pattern of another.
//
// Definition. LogicalProduct(A, B) = (A, Composition(Complement(A, Size(A)*Cosize(B)), B)). Mode 0
// is A itself, the tile; mode 1 has the shape of B and sends j to where the copy of A with the
// number B(j) begins. Copies do not overlap.
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/complement.hpp"
#include "weft/layouts/composition.hpp"

namespace weft::layouts {

template <IsLayout A, IsLayout B>
constexpr auto LogicalProduct(A a, B b) {
  return MakeLayout(a, Composition(Complement(a, Size(a) * Cosize(b)), b));
}

// With n: n copies in a row. With a tuple: one entry for each of the first modes of a, and the
// other modes stay; an underscore leaves a mode alone.
template <IsLayout A, class Tiler>
requires(!IsLayout<Tiler>) constexpr auto LogicalProduct(A a, Tiler tiler) {
  if constexpr (std::is_same_v<Tiler, Underscore>) {
    return a;
  } else if constexpr (Integer<Tiler>) {
    return LogicalProduct(a, MakeLayout(tiler));
  } else {
    static_assert(kTupleSize<Tiler> <= kRank<A>,
                  "layouts: LogicalProduct(A, tiler): the tiler has more entries than A has modes");
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>,
                                                   std::index_sequence<J...>) constexpr {
      return MakeLayout(LogicalProduct(Get<I>(a), Get<I>(tiler))...,
                        Get<kTupleSize<Tiler> + J>(a)...);
    }
    (std::make_index_sequence<kTupleSize<Tiler>>{},
     std::make_index_sequence<kRank<A> - kTupleSize<Tiler>>{});
  }
}

namespace detail {

// layout with modes 1:0 added up to rank R.
template <std::size_t R, IsLayout L>
constexpr auto PadRank(L layout) {
  if constexpr (kRank<L> >= R) {
    return layout;
  } else {
    return PadRank<R>(Append(layout, Layout<Int<1>, Int<0>>{}));
  }
}

template <class A, class B>
inline constexpr std::size_t kLargerRank = kRank<A> > kRank<B> ? kRank<A> : kRank<B>;

}  // namespace detail

// Mode i is (A_i, B_i): along each mode, whole tiles stand one after the other. A block of rows and
// columns, repeated in rows and columns.
template <IsLayout A, IsLayout B>
constexpr auto BlockedProduct(A a, B b) {
  constexpr std::size_t kModes = detail::kLargerRank<A, B>;
  const auto product = LogicalProduct(detail::PadRank<kModes>(a), detail::PadRank<kModes>(b));
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return MakeLayout(MakeLayout(Get<0, I>(product), Get<1, I>(product))...);
  }
  (std::make_index_sequence<kModes>{});
}

// Mode i is (B_i, A_i): along each mode, the tiles are interleaved element by element, as the teeth
// of rakes.
template <IsLayout A, IsLayout B>
constexpr auto RakedProduct(A a, B b) {
  constexpr std::size_t kModes = detail::kLargerRank<A, B>;
  const auto product = LogicalProduct(detail::PadRank<kModes>(a), detail::PadRank<kModes>(b));
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return MakeLayout(MakeLayout(Get<1, I>(product), Get<0, I>(product))...);
  }
  (std::make_index_sequence<kModes>{});
}

}  // namespace weft::layouts
