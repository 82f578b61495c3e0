// Division: a layout split into tiles.
//
// Definition. LogicalDivide(A, B) = Composition(A, (B, Complement(B, Size(A)))). Mode 0 is the
// tile, the elements of A that B points at; mode 1 runs over the tiles. Where A's extents are not
// multiples of the tile's, the last tile reaches past A and the caller guards it.
//
// A tiler (layouts/algebra/composition.hpp) that is a tuple divides mode by mode. The variants
// differ in the order of the resulting modes only. For A = (M, N, L) and tiler <TM, TN>:
//   LogicalDivide  ((TM, RestM), (TN, RestN), L)
//   ZippedDivide   ((TM, TN), (RestM, RestN, L))
//   TiledDivide    ((TM, TN), RestM, RestN, L)
//   FlatDivide     (TM, TN, RestM, RestN, L)
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/algebra/complement.hpp"
#include "weft/layouts/algebra/composition.hpp"

namespace weft::layouts {

template <IsLayout LayoutA, IsLayout LayoutB>
constexpr auto LogicalDivide(LayoutA a, LayoutB b) {
  return Composition(a, MakeLayout(b, Complement(b, Size(a))));
}

// With a tiler: n is n:1, an underscore takes the whole mode as its only tile.
template <IsLayout LayoutA, class Tiler>
  requires(!IsLayout<Tiler>)
constexpr auto LogicalDivide(LayoutA a, Tiler tiler) {
  if constexpr (std::is_same_v<Tiler, Underscore>) {
    return MakeLayout(a, MakeLayout(Int<1>{}, Int<0>{}));
  } else if constexpr (Integer<Tiler>) {
    return LogicalDivide(a, MakeLayout(tiler));
  } else {
    static_assert(kTupleSize<Tiler> <= kRank<LayoutA>,
                  "layouts: LogicalDivide(A, tiler): the tiler has more entries than A has modes");
    return [&]<std::size_t... Is, std::size_t... Js>(std::index_sequence<Is...>,
                                                     std::index_sequence<Js...>) constexpr {
      return MakeLayout(LogicalDivide(Get<Is>(a), Get<Is>(tiler))...,
                        Get<kTupleSize<Tiler> + Js>(a)...);
    }(std::make_index_sequence<kTupleSize<Tiler>>{},
           std::make_index_sequence<kRank<LayoutA> - kTupleSize<Tiler>>{});
  }
}

namespace detail {

// From ((t0, r0), (t1, r1), ..., x, ...) to ((t0, t1, ...), (r0, r1, ..., x, ...)), following the
// tiler's nesting.
template <IsLayout LayoutT, class Tiler>
constexpr auto ZipTiles(LayoutT divided, Tiler tiler) {
  if constexpr (!IsTuple<Tiler>) {
    return divided;
  } else {
    return [&]<std::size_t... Is, std::size_t... Js>(std::index_sequence<Is...>,
                                                     std::index_sequence<Js...>) constexpr {
      return MakeLayout(MakeLayout(Get<0>(ZipTiles(Get<Is>(divided), Get<Is>(tiler)))...),
                        MakeLayout(Get<1>(ZipTiles(Get<Is>(divided), Get<Is>(tiler)))...,
                                   Get<kTupleSize<Tiler> + Js>(divided)...));
    }(std::make_index_sequence<kTupleSize<Tiler>>{},
           std::make_index_sequence<kRank<LayoutT> - kTupleSize<Tiler>>{});
  }
}

// The modes of a layout as separate layouts in front of others.
template <IsLayout LayoutT, IsLayout... More>
constexpr auto SpreadModes(LayoutT layout, More... more) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeLayout(more..., Get<Is>(layout)...);
  }(std::make_index_sequence<kRank<LayoutT>>{});
}

}  // namespace detail

template <IsLayout LayoutA, class Tiler>
constexpr auto ZippedDivide(LayoutA a, Tiler tiler) {
  return detail::ZipTiles(LogicalDivide(a, tiler), tiler);
}

template <IsLayout LayoutA, class Tiler>
constexpr auto TiledDivide(LayoutA a, Tiler tiler) {
  const auto zipped = ZippedDivide(a, tiler);
  return detail::SpreadModes(Get<1>(zipped), Get<0>(zipped));
}

template <IsLayout LayoutA, class Tiler>
constexpr auto FlatDivide(LayoutA a, Tiler tiler) {
  const auto zipped = ZippedDivide(a, tiler);
  const auto tile = Get<0>(zipped);
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return detail::SpreadModes(Get<1>(zipped), Get<Is>(tile)...);
  }(std::make_index_sequence<kRank<decltype(tile)>>{});
}

}  // namespace weft::layouts
