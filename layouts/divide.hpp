// Division: a layout split into tiles.
//
// Definition. LogicalDivide(A, B) = Composition(A, (B, Complement(B, Size(A)))). Mode 0 is the
// tile, the elements of A that B points at; mode 1 runs over the tiles. Where A's extents are not
// multiples of the tile's, the last tile reaches past A and the caller guards it.
//
// A tiler (layouts/composition.hpp) that is a tuple divides mode by mode. The variants differ in
// the order of the resulting modes only. For A = (M, N, L) and tiler <TM, TN>:
//   LogicalDivide  ((TM, RestM), (TN, RestN), L)
//   ZippedDivide   ((TM, TN), (RestM, RestN, L))
//   TiledDivide    ((TM, TN), RestM, RestN, L)
//   FlatDivide     (TM, TN, RestM, RestN, L)
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/complement.hpp"
#include "weft/layouts/composition.hpp"

namespace weft::layouts {

template <IsLayout A, IsLayout B>
constexpr auto LogicalDivide(A a, B b) {
  return Composition(a, MakeLayout(b, Complement(b, Size(a))));
}

// With a tiler: n is n:1, an underscore takes the whole mode as its only tile.
template <IsLayout A, class Tiler>
requires(!IsLayout<Tiler>) constexpr auto LogicalDivide(A a, Tiler tiler) {
  if constexpr (std::is_same_v<Tiler, Underscore>) {
    return MakeLayout(a, MakeLayout(Int<1>{}, Int<0>{}));
  } else if constexpr (Integer<Tiler>) {
    return LogicalDivide(a, MakeLayout(tiler));
  } else {
    static_assert(kTupleSize<Tiler> <= kRank<A>,
                  "layouts: LogicalDivide(A, tiler): the tiler has more entries than A has modes");
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>,
                                                   std::index_sequence<J...>) constexpr {
      return MakeLayout(LogicalDivide(Get<I>(a), Get<I>(tiler))...,
                        Get<kTupleSize<Tiler> + J>(a)...);
    }
    (std::make_index_sequence<kTupleSize<Tiler>>{},
     std::make_index_sequence<kRank<A> - kTupleSize<Tiler>>{});
  }
}

namespace detail {

// From ((t0, r0), (t1, r1), ..., x, ...) to ((t0, t1, ...), (r0, r1, ..., x, ...)), following the
// tiler's nesting.
template <IsLayout L, class Tiler>
constexpr auto ZipTiles(L divided, Tiler tiler) {
  if constexpr (!IsTuple<Tiler>) {
    return divided;
  } else {
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>,
                                                   std::index_sequence<J...>) constexpr {
      return MakeLayout(MakeLayout(Get<0>(ZipTiles(Get<I>(divided), Get<I>(tiler)))...),
                        MakeLayout(Get<1>(ZipTiles(Get<I>(divided), Get<I>(tiler)))...,
                                   Get<kTupleSize<Tiler> + J>(divided)...));
    }
    (std::make_index_sequence<kTupleSize<Tiler>>{},
     std::make_index_sequence<kRank<L> - kTupleSize<Tiler>>{});
  }
}

// The modes of a layout as separate layouts in front of others.
template <IsLayout L, IsLayout... More>
constexpr auto SpreadModes(L layout, More... more) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return MakeLayout(more..., Get<I>(layout)...);
  }
  (std::make_index_sequence<kRank<L>>{});
}

}  // namespace detail

template <IsLayout A, class Tiler>
constexpr auto ZippedDivide(A a, Tiler tiler) {
  return detail::ZipTiles(LogicalDivide(a, tiler), tiler);
}

template <IsLayout A, class Tiler>
constexpr auto TiledDivide(A a, Tiler tiler) {
  const auto zipped = ZippedDivide(a, tiler);
  return detail::SpreadModes(Get<1>(zipped), Get<0>(zipped));
}

template <IsLayout A, class Tiler>
constexpr auto FlatDivide(A a, Tiler tiler) {
  const auto zipped = ZippedDivide(a, tiler);
  const auto tile = Get<0>(zipped);
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return detail::SpreadModes(Get<1>(zipped), Get<I>(tile)...);
  }
  (std::make_index_sequence<kRank<decltype(tile)>>{});
}

}  // namespace weft::layouts
