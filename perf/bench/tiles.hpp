// Lists of tiles, and the policies that a program measures of them. perf/operators.cmake asks the family `Operators` of each
// program's policies.hpp how many policies it has, and compiles them.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "weft/gemm/policy/family.hpp"
#include "weft/gemm/tile/tile_table.hpp"

namespace weft::perf {

using gemm::TileList;

namespace internal {

template <class Sequence, class Tuple>
struct FirstTiles;
template <std::size_t... kIndex, class Tuple>
struct FirstTiles<std::index_sequence<kIndex...>, Tuple> {
  using type = TileList<std::tuple_element_t<kIndex, Tuple>...>;
};

template <template <class TileT> class Of, class List>
struct PoliciesOf;
template <template <class TileT> class Of, template <class... Tiles> class List, class... Tiles>
struct PoliciesOf<Of, List<Tiles...>> {
  using type = gemm::Family<Of<Tiles>...>;
};

}  // namespace internal

// The CMake option of that name; without it programs have a few tiles only.
#if WEFT_PERF_ALL_TILES
inline constexpr bool kAllTiles = true;
#else
inline constexpr bool kAllTiles = false;
#endif

// All of the tiles, or the first kBasic.
template <int kBasic, class... Tiles>
using TilesFrom =
    typename internal::FirstTiles<std::make_index_sequence<kAllTiles ? sizeof...(Tiles) : kBasic>,
                                  std::tuple<Tiles...>>::type;

// The operator Of over each tile of a list, or over each policy of a family.
template <template <class TileT> class Of, class List>
using PoliciesOf = typename internal::PoliciesOf<Of, List>::type;

// Calls each.operator()<Policy>(place) for the policies of a family.
template <class Each, class... Policies>
void ForEachPolicy(gemm::Family<Policies...>, const Each& each) {
  int place = 0;
  (each.template operator()<Policies>(place++), ...);
}

}  // namespace weft::perf
