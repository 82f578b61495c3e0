// Strides made from a shape: column-major, row-major, or any order of the modes.
#pragma once

#include <array>
#include <cstddef>

#include "weft/layouts/algebra/shape.hpp"

namespace weft::layouts {

// The first mode varies fastest. The order in which layouts count their own coordinates.
struct ColumnMajor {};

// The last mode varies fastest.
struct RowMajor {};

// Mode i comes at position Positions[i], counted from the fastest: Order<1, 0> is row-major for two
// modes. Inside a nested mode the order is column-major.
template <std::size_t... Positions>
struct Order {};

namespace detail {

// Compact strides of one shape, the first leaf fastest, beginning at `unit`.
template <class Shape, class Unit>
constexpr auto ColumnMajorStrides(Shape shape, Unit unit) {
  if constexpr (!IsTuple<Shape>) {
    return unit;
  } else {
    return Get<0>(
        Fold(shape, MakeTuple(Tuple<>{}, unit), [](const auto& done, const auto& x) constexpr {
          const auto next = Get<1>(done);
          return MakeTuple(Append(Get<0>(done), ColumnMajorStrides(x, next)), next * Size(x));
        }));
  }
}

// Compact strides of one shape, the last leaf fastest.
template <class Shape, class Unit>
constexpr auto RowMajorStrides(Shape shape, Unit unit) {
  if constexpr (!IsTuple<Shape>) {
    return unit;
  } else {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      // Mode i's unit is the size of all modes after it.
      return MakeTuple(
          RowMajorStrides(Get<Is>(shape), unit * Size(Take<Is + 1, kTupleSize<Shape>>(shape)))...);
    }(std::make_index_sequence<kTupleSize<Shape>>{});
  }
}

template <std::size_t... Positions>
constexpr bool IsPermutation() {
  constexpr std::array<std::size_t, sizeof...(Positions)> p{Positions...};
  std::array<bool, sizeof...(Positions)> seen{};
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] >= p.size() || seen[p[i]]) return false;
    seen[p[i]] = true;
  }
  return true;
}

// Positions[kIndex].
template <std::size_t kIndex, std::size_t... Positions>
constexpr std::size_t PositionOf() {
  constexpr std::array<std::size_t, sizeof...(Positions)> position{Positions...};
  return position[kIndex];
}

// The size of a mode at `Position` if that comes before `End` in the order, else 1.
template <std::size_t Position, std::size_t End, class Extent>
constexpr auto FactorBefore(Extent extent) {
  if constexpr (Position < End) {
    return Size(extent);
  } else {
    return Int<1>{};
  }
}

// The size of all modes that come before position `End` in the order.
template <std::size_t End, std::size_t... Positions, class Shape>
constexpr auto OrderUnit(Shape shape) {
  return [&]<std::size_t... Js>(std::index_sequence<Js...>) constexpr {
    return (Int<1>{} * ... * FactorBefore<Positions, End>(Get<Js>(shape)));
  }(std::make_index_sequence<sizeof...(Positions)>{});
}

}  // namespace detail

// Strides that place the shape's elements without gaps, the first leaf fastest. For
// (s0, s1, s2): (1, s0, s0*s1). The products are made in the extents' own type: give int64 extents
// where offsets pass 2^31.
template <class Shape>
constexpr auto CompactStrides(Shape shape, ColumnMajor) {
  return detail::ColumnMajorStrides(shape, Int<1>{});
}

// The same with the last leaf fastest. For (s0, s1, s2): (s1*s2, s2, 1).
template <class Shape>
constexpr auto CompactStrides(Shape shape, RowMajor) {
  return detail::RowMajorStrides(shape, Int<1>{});
}

// The same with the modes in the given order, each mode column-major inside.
template <class Shape, std::size_t... Positions>
constexpr auto CompactStrides(Shape shape, Order<Positions...>) {
  static_assert(kRank<Shape> == sizeof...(Positions),
                "layouts: Order<...> needs one position for each mode of the shape");
  static_assert(detail::IsPermutation<Positions...>(),
                "layouts: Order<...> needs each position 0 ... rank-1 exactly once");
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeTuple(detail::ColumnMajorStrides(
        Get<Is>(shape),
        detail::OrderUnit<detail::PositionOf<Is, Positions...>(), Positions...>(shape))...);
  }(std::make_index_sequence<sizeof...(Positions)>{});
}

}  // namespace weft::layouts
