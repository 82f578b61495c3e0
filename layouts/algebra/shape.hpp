// Shapes: nested tuples of extents, and how two of them fit together.
//
// A shape is an integer (one mode) or a tuple of shapes (one mode per element). Its size is the
// product of its leaves.
#pragma once

#include <cstddef>

#include "weft/layouts/base/tuple_algorithms.hpp"

namespace weft::layouts {
namespace detail {
template <class Type>
constexpr std::size_t RankOf() {
  if constexpr (IsTuple<Type>) {
    return kTupleSize<Type>;
  } else {
    return 1;
  }
}

template <class Type>
constexpr std::size_t DepthOf(Type t) {
  if constexpr (IsTuple<Type>) {
    return 1 + Fold(t, std::size_t{0}, [](std::size_t deepest, const auto& x) constexpr {
             const std::size_t depth = DepthOf(x);
             return depth > deepest ? depth : deepest;
           });
  } else {
    return 0;
  }
}
template <class Type>
struct RankAndDepth {
  static constexpr std::size_t kRank = RankOf<Type>();
  static constexpr std::size_t kDepth = DepthOf(Type{});
};

template <class Type>
struct AllStatic {
  static constexpr bool kValue = StaticInteger<Type>;
};
template <class... Ts>
struct AllStatic<Tuple<Ts...>> {
  static constexpr bool kValue = (AllStatic<Ts>::kValue && ... && true);
};
}  // namespace detail

// The number of modes: 1 for an integer, the number of elements for a tuple. Layouts have it too.
template <class Type>
inline constexpr std::size_t kRank = detail::RankAndDepth<std::remove_cvref_t<Type>>::kRank;

// How deep tuples nest: 0 for an integer, 1 for a flat tuple. Layouts have it too.
template <class Type>
inline constexpr std::size_t kDepth = detail::RankAndDepth<std::remove_cvref_t<Type>>::kDepth;

// Every number in Type is known at compile time.
template <class Type>
concept IsStatic = detail::AllStatic<std::remove_cvref_t<Type>>::kValue;

// The product of the leaves; 1 for ().
template <class Shape>
  requires Integer<Shape> || IsTuple<Shape>
constexpr auto Size(Shape shape) {
  if constexpr (IsTuple<Shape>) {
    return Fold(shape, Int<1>{}, [](auto n, const auto& x) constexpr { return n * Size(x); });
  } else {
    return AsInteger(shape);
  }
}

// The size of mode kIndex, or of mode J of mode kIndex, and so on.
template <std::size_t kIndex, std::size_t... Js, class Shape>
  requires Integer<Shape> || IsTuple<Shape>
constexpr auto Size(Shape shape) {
  return Size(Get<kIndex, Js...>(shape));
}

namespace detail {
template <class TypeA, class TypeB>
constexpr bool SameNesting(TypeA a, TypeB b) {
  if constexpr (IsTuple<TypeA> && IsTuple<TypeB>) {
    if constexpr (kTupleSize<TypeA> == kTupleSize<TypeB>) {
      return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
        return (SameNesting(Get<Is>(a), Get<Is>(b)) && ... && true);
      }(std::make_index_sequence<kTupleSize<TypeA>>{});
    } else {
      return false;
    }
  } else {
    return !IsTuple<TypeA> && !IsTuple<TypeB>;
  }
}

template <class TypeA, class TypeB>
constexpr bool CoarserNesting(TypeA a, TypeB b) {
  if constexpr (!IsTuple<TypeA>) {
    return true;
  } else if constexpr (IsTuple<TypeB>) {
    if constexpr (kTupleSize<TypeA> == kTupleSize<TypeB>) {
      return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
        return (CoarserNesting(Get<Is>(a), Get<Is>(b)) && ... && true);
      }(std::make_index_sequence<kTupleSize<TypeA>>{});
    } else {
      return false;
    }
  } else {
    return false;
  }
}
}  // namespace detail

// A and B nest alike: every tuple stands against a tuple of as many elements. A stride must be
// congruent to its shape.
template <class TypeA, class TypeB>
concept Congruent = detail::SameNesting(std::remove_cvref_t<TypeA>{}, std::remove_cvref_t<TypeB>{});

// B nests like A or more deeply: where A has an integer, B may have a tuple. The coordinates that a
// shape accepts are exactly those weakly congruent to it.
template <class TypeA, class TypeB>
concept WeaklyCongruent =
    detail::CoarserNesting(std::remove_cvref_t<TypeA>{}, std::remove_cvref_t<TypeB>{});

// Every coordinate of a is a coordinate of b: a is weakly congruent to b and each integer of a is
// the size of what stands there in b. 24 is compatible with (4, 6), which is with (4, (2, 3)).
template <class TypeA, class TypeB>
constexpr bool Compatible(TypeA a, TypeB b) {
  if constexpr (!IsTuple<TypeA>) {
    return a == Size(b);
  } else if constexpr (WeaklyCongruent<TypeA, TypeB>) {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return (Compatible(Get<Is>(a), Get<Is>(b)) && ... && true);
    }(std::make_index_sequence<kTupleSize<TypeA>>{});
  } else {
    return false;
  }
}

}  // namespace weft::layouts
