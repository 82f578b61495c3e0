// Product: a layout repeated after the pattern of another.
//
// Definition. LogicalProduct(A, B) = (A, Composition(Complement(A, Size(A)*Cosize(B)), B)). Mode 0
// is A itself, the tile; mode 1 has the shape of B and sends j to where the copy of A with the
// number B(j) begins. Copies do not overlap.
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/algebra/complement.hpp"
#include "weft/layouts/algebra/composition.hpp"

namespace weft::layouts {

template <IsLayout LayoutA, IsLayout LayoutB>
constexpr auto LogicalProduct(LayoutA a, LayoutB b) {
  return MakeLayout(a, Composition(Complement(a, Size(a) * Cosize(b)), b));
}

// With n: n copies in a row. With a tuple: one entry for each of the first modes of a, and the
// other modes stay; an underscore leaves a mode alone.
template <IsLayout LayoutA, class Tiler>
  requires(!IsLayout<Tiler>)
constexpr auto LogicalProduct(LayoutA a, Tiler tiler) {
  if constexpr (std::is_same_v<Tiler, Underscore>) {
    return a;
  } else if constexpr (Integer<Tiler>) {
    return LogicalProduct(a, MakeLayout(tiler));
  } else {
    static_assert(kTupleSize<Tiler> <= kRank<LayoutA>,
                  "layouts: LogicalProduct(A, tiler): the tiler has more entries than A has modes");
    return [&]<std::size_t... Is, std::size_t... Js>(std::index_sequence<Is...>,
                                                     std::index_sequence<Js...>) constexpr {
      return MakeLayout(LogicalProduct(Get<Is>(a), Get<Is>(tiler))...,
                        Get<kTupleSize<Tiler> + Js>(a)...);
    }(std::make_index_sequence<kTupleSize<Tiler>>{},
           std::make_index_sequence<kRank<LayoutA> - kTupleSize<Tiler>>{});
  }
}

namespace detail {

// layout with modes 1:0 added up to rank R.
template <std::size_t kNewRank, IsLayout LayoutT>
constexpr auto PadRank(LayoutT layout) {
  if constexpr (kRank<LayoutT> >= kNewRank) {
    return layout;
  } else {
    return PadRank<kNewRank>(Append(layout, Layout<Int<1>, Int<0>>{}));
  }
}

template <class TypeA, class TypeB>
inline constexpr std::size_t kLargerRank =
    kRank<TypeA> > kRank<TypeB> ? kRank<TypeA> : kRank<TypeB>;

}  // namespace detail

// Mode i is (A_i, B_i): along each mode, whole tiles stand one after the other. A block of rows and
// columns, repeated in rows and columns.
template <IsLayout LayoutA, IsLayout LayoutB>
constexpr auto BlockedProduct(LayoutA a, LayoutB b) {
  constexpr std::size_t kModes = detail::kLargerRank<LayoutA, LayoutB>;
  const auto product = LogicalProduct(detail::PadRank<kModes>(a), detail::PadRank<kModes>(b));
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeLayout(MakeLayout(Get<0, Is>(product), Get<1, Is>(product))...);
  }(std::make_index_sequence<kModes>{});
}

// Mode i is (B_i, A_i): along each mode, the tiles are interleaved element by element, as the teeth
// of rakes.
template <IsLayout LayoutA, IsLayout LayoutB>
constexpr auto RakedProduct(LayoutA a, LayoutB b) {
  constexpr std::size_t kModes = detail::kLargerRank<LayoutA, LayoutB>;
  const auto product = LogicalProduct(detail::PadRank<kModes>(a), detail::PadRank<kModes>(b));
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeLayout(MakeLayout(Get<1, Is>(product), Get<0, Is>(product))...);
  }(std::make_index_sequence<kModes>{});
}

}  // namespace weft::layouts
