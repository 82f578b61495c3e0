// Parts of a tensor view: the tile of a block, the elements of a thread.
#pragma once

#include <cstddef>

#include "weft/layouts/tensor_view.hpp"

namespace weft::layouts {
namespace detail {

// The sizes of a layout's modes as a tiler.
template <IsLayout LayoutT>
constexpr auto ModeSizes(LayoutT layout) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeTuple(Size<Is>(layout)...);
  }(std::make_index_sequence<kRank<LayoutT>>{});
}

// x as one entry for each of n modes: (x0, ..., _, ...) filled up with underscores.
template <std::size_t kCount, class Coord>
constexpr auto FillWithUnderscores(Coord coord) {
  static_assert(kTupleSize<Coord> <= kCount,
                "layouts: the tile coordinate has more entries than the view has modes of tiles");
  return Concat(coord, Repeat<kCount - kTupleSize<Coord>>(Underscore{}));
}

// No gaps, no repeats: [0, size) onto itself.
template <IsLayout LayoutT>
constexpr bool IsCompact(LayoutT layout) {
  return Size(layout) == Cosize(layout) && IsLeftInvertible(layout);
}

template <IsLayout LayoutT>
constexpr bool IsCompactIfStatic() {
  if constexpr (IsStatic<LayoutT>) {
    return IsCompact(LayoutT{});
  } else {
    return true;
  }
}

}  // namespace detail

// Tile number `coord` of the view cut by `tiler` (layouts/algebra/divide.hpp). coord has one entry
// for each mode of tiles; entries that are underscores, or left out at the end, stay as modes after
// the tile's own.
//   view (M, K), tiler <TM, TK>, coord (i, _):  (TM, TK, K/TK), the tiles of block row i.
// Where a mode of the view is not a multiple of its tile, the last tile reaches past the view.
template <IsTensorView View, class Tiler, class Coord>
constexpr auto LocalTile(View view, Tiler tiler, Coord coord) {
  const auto tiles = ZippedDivide(view, tiler);
  constexpr std::size_t kTileModes = detail::RankOf<decltype(Get<0>(tiles.shape()))>();
  constexpr std::size_t kRestModes = detail::RankOf<decltype(Get<1>(tiles.shape()))>();
  const auto which = detail::FillWithUnderscores<kRestModes>(AsTuple(coord));
  if constexpr (IsTuple<decltype(Get<1>(tiles.shape()))>) {
    return tiles(Repeat<kTileModes>(Underscore{}), which);
  } else {
    return tiles(Repeat<kTileModes>(Underscore{}), Get<0>(which));
  }
}

// The elements of thread `index` when the threads of `threads`, a compact layout from positions to
// thread numbers, are laid over the view again and again, one element each. Every element of a view
// whose extents are multiples of the threads' goes to exactly one thread.
//   view (M, N), threads (TM, TN):  (M/TM, N/TN)
template <IsTensorView View, IsLayout Threads, Integer Index>
constexpr auto Partition(View view, Threads threads, Index index) {
  static_assert(detail::IsCompactIfStatic<Threads>(),
                "layouts: Partition(view, threads, i): the thread layout must number its positions "
                "0 ... size-1, each once");
  static_assert(kRank<View> >= kRank<Threads>,
                "layouts: Partition(view, threads, i): the thread layout has more modes than the "
                "view");
  const auto tiles = ZippedDivide(view, detail::ModeSizes(threads));
  const auto coord = ToFlatCoord(OffsetToCoord(AsInteger(index), threads.shape(), threads.stride()),
                                 threads.shape());
  constexpr std::size_t kRestModes = detail::RankOf<decltype(Get<1>(tiles.shape()))>();
  return tiles(AsTuple(coord), Repeat<kRestModes>(Underscore{}));
}

// The values of thread `index` under a thread-value layout: tv sends (thread, value) to a linear
// index of the view, the first mode of the view fastest.
//   tv (T, (V0, V1)):  (V0, V1)
template <IsTensorView View, IsLayout Tv, Integer Index>
constexpr auto PartitionValues(View view, Tv tv, Index index) {
  static_assert(kRank<Tv> == 2,
                "layouts: PartitionValues(view, tv, i): a thread-value layout has two modes, "
                "threads and values");
  const auto by_thread = Composition(view, tv);
  constexpr std::size_t kValueModes = detail::RankOf<decltype(Get<1>(tv.shape()))>();
  if constexpr (IsTuple<decltype(Get<1>(tv.shape()))>) {
    return by_thread(index, Repeat<kValueModes>(Underscore{}));
  } else {
    return by_thread(index, Underscore{});
  }
}

// The same for a view of many tiles: tv speaks about one tile of shape `tiler`, and the modes of
// tiles follow the values'.
//   view (M, N), tiler <TM, TN>, tv (T, V):  (V, (M/TM, N/TN))
template <IsTensorView View, class Tiler, IsLayout Tv, Integer Index>
constexpr auto PartitionValues(View view, Tiler tiler, Tv tv, Index index) {
  static_assert(
      kRank<Tv> == 2,
      "layouts: PartitionValues(view, tiler, tv, i): a thread-value layout has two modes, "
      "threads and values");
  const auto tiles = ZippedDivide(view, tiler);
  const auto by_thread = Composition(tiles, MakeTuple(tv, _));
  return by_thread(MakeTuple(index, Underscore{}), Underscore{});
}

}  // namespace weft::layouts
