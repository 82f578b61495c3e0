// Shapes: nested tuples of extents, and how two of them fit together.
//
// A shape is an integer (one mode) or a tuple of shapes (one mode per element). Its size is the
// product of its leaves.
#pragma once

#include <cstddef>

#include "weft/layouts/tuple_algorithms.hpp"

namespace weft::layouts {
namespace detail {
template <class T>
constexpr std::size_t RankOf() {
  if constexpr (IsTuple<T>) {
    return kTupleSize<T>;
  } else {
    return 1;
  }
}

template <class T>
constexpr std::size_t DepthOf(T t) {
  if constexpr (IsTuple<T>) {
    return 1 + Fold(
                   t, std::size_t{0}, [](std::size_t deepest, const auto& x) constexpr {
                     const std::size_t depth = DepthOf(x);
                     return depth > deepest ? depth : deepest;
                   });
  } else {
    return 0;
  }
}
template <class T>
struct RankAndDepth {
  static constexpr std::size_t kRank = RankOf<T>();
  static constexpr std::size_t kDepth = DepthOf(T{});
};

template <class T>
struct AllStatic {
  static constexpr bool kValue = StaticInteger<T>;
};
template <class... Ts>
struct AllStatic<Tuple<Ts...>> {
  static constexpr bool kValue = (AllStatic<Ts>::kValue && ... && true);
};
}  // namespace detail

// The number of modes: 1 for an integer, the number of elements for a tuple. Layouts have it too.
template <class T>
inline constexpr std::size_t kRank = detail::RankAndDepth<std::remove_cvref_t<T>>::kRank;

// How deep tuples nest: 0 for an integer, 1 for a flat tuple. Layouts have it too.
template <class T>
inline constexpr std::size_t kDepth = detail::RankAndDepth<std::remove_cvref_t<T>>::kDepth;

// Every number in T is known at compile time.
template <class T>
concept IsStatic = detail::AllStatic<std::remove_cvref_t<T>>::kValue;

// The product of the leaves; 1 for ().
template <class Shape>
requires Integer<Shape> || IsTuple<Shape>
constexpr auto Size(Shape shape) {
  if constexpr (IsTuple<Shape>) {
    return Fold(
        shape, Int<1>{}, [](auto n, const auto& x) constexpr { return n * Size(x); });
  } else {
    return AsInteger(shape);
  }
}

// The size of mode I, or of mode J of mode I, and so on.
template <std::size_t I, std::size_t... Js, class Shape>
requires Integer<Shape> || IsTuple<Shape>
constexpr auto Size(Shape shape) {
  return Size(Get<I, Js...>(shape));
}

namespace detail {
template <class A, class B>
constexpr bool SameNesting(A a, B b) {
  if constexpr (IsTuple<A> && IsTuple<B>) {
    if constexpr (kTupleSize<A> == kTupleSize<B>) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
        return (SameNesting(Get<I>(a), Get<I>(b)) && ... && true);
      }
      (std::make_index_sequence<kTupleSize<A>>{});
    } else {
      return false;
    }
  } else {
    return !IsTuple<A> && !IsTuple<B>;
  }
}

template <class A, class B>
constexpr bool CoarserNesting(A a, B b) {
  if constexpr (!IsTuple<A>) {
    return true;
  } else if constexpr (IsTuple<B>) {
    if constexpr (kTupleSize<A> == kTupleSize<B>) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
        return (CoarserNesting(Get<I>(a), Get<I>(b)) && ... && true);
      }
      (std::make_index_sequence<kTupleSize<A>>{});
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
template <class A, class B>
concept Congruent = detail::SameNesting(std::remove_cvref_t<A>{}, std::remove_cvref_t<B>{});

// B nests like A or more deeply: where A has an integer, B may have a tuple. The coordinates that a
// shape accepts are exactly those weakly congruent to it.
template <class A, class B>
concept WeaklyCongruent = detail::CoarserNesting(std::remove_cvref_t<A>{},
                                                 std::remove_cvref_t<B>{});

// Every coordinate of a is a coordinate of b: a is weakly congruent to b and each integer of a is
// the size of what stands there in b. 24 is compatible with (4, 6), which is with (4, (2, 3)).
template <class A, class B>
constexpr bool Compatible(A a, B b) {
  if constexpr (!IsTuple<A>) {
    return a == Size(b);
  } else if constexpr (WeaklyCongruent<A, B>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
      return (Compatible(Get<I>(a), Get<I>(b)) && ... && true);
    }
    (std::make_index_sequence<kTupleSize<A>>{});
  } else {
    return false;
  }
}

}  // namespace weft::layouts
