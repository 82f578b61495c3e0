// Coordinates of a shape, and the conversions between them.
//
// A shape (s0, s1, ...) of size n accepts as coordinate any tuple weakly congruent to it: the full
// nested coordinate, a coordinate with some nested modes written as one number, or one linear index
// in [0, n). They are matched colexicographically: the first mode varies fastest, so index i of
// (s0, s1, s2) is the coordinate (i % s0, i / s0 % s1, i / (s0 * s1)).
#pragma once

#include <cstddef>

#include "weft/layouts/algebra/stride.hpp"

namespace weft::layouts {

// Stands in a coordinate for "all of this mode" and selects it in a slice.
struct Underscore {};
inline constexpr Underscore _{};

namespace detail {

template <class Type>
struct ContainsUnderscore {
  static constexpr bool kValue = false;
};
template <>
struct ContainsUnderscore<Underscore> {
  static constexpr bool kValue = true;
};
template <class... Ts>
struct ContainsUnderscore<Tuple<Ts...>> {
  static constexpr bool kValue = (ContainsUnderscore<Ts>::kValue || ... || false);
};

template <class Index>
constexpr auto DivideIndex(Index n, Int<1>) {
  return n;
}
template <class Index, Integer Divisor>
constexpr auto DivideIndex(Index n, Divisor d) {
  return n / d;
}
template <class Index>
constexpr Int<0> IndexRemainder(Index, Int<1>) {
  return {};
}
template <class Index, Integer Divisor>
constexpr auto IndexRemainder(Index n, Divisor d) {
  return n % d;
}

// A linear index split over the modes from kIndex on; the last mode takes all that is left, so that an
// index past the end keeps walking along it.
template <std::size_t kIndex, class Index, class Shape>
constexpr auto SplitFrom(Index index, Shape shape) {
  if constexpr (kTupleSize<Shape> == 0) {
    return Tuple<>{};
  } else if constexpr (kIndex + 1 == kTupleSize<Shape>) {
    return MakeTuple(index);
  } else {
    const auto size = Size<kIndex>(shape);
    return Concat(MakeTuple(IndexRemainder(index, size)),
                  SplitFrom<kIndex + 1>(DivideIndex(index, size), shape));
  }
}

}  // namespace detail

// Type holds an underscore somewhere, so a layout called with it is sliced.
template <class Type>
concept HasUnderscore = detail::ContainsUnderscore<std::remove_cvref_t<Type>>::kValue;

// The nested coordinate at linear index: congruent to shape.
template <Integer Index, class Shape>
constexpr auto IndexToCoord(Index index, Shape shape) {
  if constexpr (!IsTuple<Shape>) {
    return AsInteger(index);
  } else {
    return Transform(detail::SplitFrom<0>(AsInteger(index), shape), shape,
                     [](const auto& i, const auto& s) constexpr { return IndexToCoord(i, s); });
  }
}

// The nested coordinate that a layout shape:stride sends to offset, where the layout is a bijection
// onto [0, size): at each leaf (offset / d) % s.
template <Integer Index, class Shape, class Stride>
constexpr auto OffsetToCoord(Index offset, Shape shape, Stride stride) {
  static_assert(Congruent<Shape, Stride>,
                "layouts: OffsetToCoord: shape and stride are not nested alike");
  if constexpr (!IsTuple<Shape>) {
    return detail::IndexRemainder(detail::DivideIndex(AsInteger(offset), stride), shape);
  } else {
    return Transform(shape, stride, [&](const auto& s, const auto& d) constexpr {
      return OffsetToCoord(offset, s, d);
    });
  }
}

// The sum over the leaves of coordinate times stride, where a number that stands for a nested mode
// is first split colexicographically.
template <class Coord, class Shape, class Stride>
constexpr auto CoordToOffset(Coord coord, Shape shape, Stride stride) {
  static_assert(WeaklyCongruent<Coord, Shape>,
                "layouts: the coordinate does not fit the shape: it must have one entry for each "
                "mode, each a number or a tuple that fits the mode");
  if constexpr (!WeaklyCongruent<Coord, Shape>) {
    return Int<0>{};  // the sentence above is the error
  } else if constexpr (IsTuple<Coord>) {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return (Int<0>{} + ... + CoordToOffset(Get<Is>(coord), Get<Is>(shape), Get<Is>(stride)));
    }(std::make_index_sequence<kTupleSize<Shape>>{});
  } else if constexpr (IsTuple<Shape>) {
    return CoordToOffset(detail::SplitFrom<0>(AsInteger(coord), shape), shape, stride);
  } else {
    return AsInteger(coord) * stride;
  }
}

// The linear index of a coordinate: the inverse of IndexToCoord.
template <class Coord, class Shape>
constexpr auto CoordToIndex(Coord coord, Shape shape) {
  return CoordToOffset(coord, shape, CompactStrides(shape, ColumnMajor{}));
}

// The full nested coordinate, congruent to shape, that any accepted coordinate stands for.
template <class Coord, class Shape>
constexpr auto ToNestedCoord(Coord coord, Shape shape) {
  static_assert(WeaklyCongruent<Coord, Shape>,
                "layouts: the coordinate does not fit the shape: it must have one entry for each "
                "mode, each a number or a tuple that fits the mode");
  if constexpr (!IsTuple<Coord>) {
    return IndexToCoord(coord, shape);
  } else {
    return Transform(coord, shape,
                     [](const auto& c, const auto& s) constexpr { return ToNestedCoord(c, s); });
  }
}

// The flat coordinate: one linear index for each top-level mode of the shape.
template <class Coord, class Shape>
constexpr auto ToFlatCoord(Coord coord, Shape shape) {
  return Transform(ToNestedCoord(coord, shape), shape,
                   [](const auto& c, const auto& s) constexpr { return CoordToIndex(c, s); });
}

// The parts of t (a shape or a stride) at which coord has an underscore, left to right, one element
// each: Slice((_, 1), (2, (3, 4))) is (2).
template <class Coord, class Type>
constexpr auto Slice(Coord coord, Type t) {
  if constexpr (std::is_same_v<Coord, Underscore>) {
    return MakeTuple(t);
  } else if constexpr (IsTuple<Coord>) {
    static_assert(detail::RankOf<Coord>() == detail::RankOf<Type>(),
                  "layouts: Slice: the coordinate needs one entry for each mode");
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return Concat(Slice(Get<Is>(coord), Get<Is>(t))...);
    }(std::make_index_sequence<kTupleSize<Coord>>{});
  } else {
    return Tuple<>{};
  }
}

// coord with every underscore replaced by 0: where the slice begins.
template <class Coord>
constexpr auto SliceOrigin(Coord coord) {
  return TransformLeaves(coord, [](const auto& c) constexpr {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(c)>, Underscore>) {
      return Int<0>{};
    } else {
      return c;
    }
  });
}

}  // namespace weft::layouts
