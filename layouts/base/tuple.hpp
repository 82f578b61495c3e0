// Tuple: the nested lists that shapes, strides and coordinates are made of.
//
// An aggregate with public bases: trivially copyable, usable as a kernel parameter, and empty (one
// byte, or none as a base or member of another tuple) when every element is a compile-time integer.
//
// Functions here take their small arguments by value: nvcc lets device code copy a namespace-scope
// constant such as kInt<4>, but not refer to it.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "weft/layouts/base/int.hpp"

namespace weft::layouts {
namespace detail {

// One element. Empty types are not stored; they are made again when asked for.
template <std::size_t kIndex, class Type, bool kEmpty = std::is_empty_v<Type>>
struct Leaf {
  Type value{};
  constexpr Leaf() = default;
  constexpr Leaf(const Type& v) : value(v) {}
};
template <std::size_t kIndex, class Type>
struct Leaf<kIndex, Type, true> {
  constexpr Leaf() = default;
  constexpr Leaf(const Type&) {}
};

template <std::size_t kIndex, class Type>
constexpr Type LeafValue(const Leaf<kIndex, Type, false>& leaf) {
  return leaf.value;
}
template <std::size_t kIndex, class Type>
constexpr Type LeafValue(const Leaf<kIndex, Type, true>&) {
  return {};
}

template <class Indices, class... Ts>
struct TupleBase;
template <std::size_t... Is, class... Ts>
struct TupleBase<std::index_sequence<Is...>, Ts...> : Leaf<Is, Ts>... {};

}  // namespace detail

// A list of elements: integers, and tuples of them. Make one with MakeTuple.
template <class... Ts>
struct Tuple : detail::TupleBase<std::index_sequence_for<Ts...>, Ts...> {};

namespace detail {
template <class Type>
struct TupleTraits {
  static constexpr bool kIsTuple = false;
};
template <class... Ts>
struct TupleTraits<Tuple<Ts...>> {
  static constexpr bool kIsTuple = true;
  static constexpr std::size_t kSize = sizeof...(Ts);
};
}  // namespace detail

template <class Type>
concept IsTuple = detail::TupleTraits<std::remove_cvref_t<Type>>::kIsTuple;

// The number of elements of tuple type TupleT.
template <IsTuple TupleT>
inline constexpr std::size_t kTupleSize = detail::TupleTraits<std::remove_cvref_t<TupleT>>::kSize;

// (elements...). Plain integers become int32 or int64.
template <class... Ts>
constexpr auto MakeTuple(Ts... elements) {
  constexpr auto normal = [](const auto& x) constexpr {
    if constexpr (DynamicInteger<decltype(x)>) {
      return AsInteger(x);
    } else {
      return x;
    }
  };
  return Tuple<decltype(normal(elements))...>{{{normal(elements)}...}};
}

// Element kIndex of a tuple. An integer is its own element 0.
template <std::size_t kIndex, class... Ts>
constexpr auto Get(const Tuple<Ts...>& tuple) {
  static_assert(kIndex < sizeof...(Ts), "layouts: Get<i>: the tuple has no element i");
  return detail::LeafValue<kIndex>(tuple);
}
template <std::size_t kIndex, Integer IntegerT>
constexpr auto Get(IntegerT x) {
  static_assert(kIndex == 0, "layouts: Get<i>: an integer has only element 0");
  return x;
}
// Get<kIndex, kOther, ...>(t) is Get<kOther, ...>(Get<kIndex>(t)).
template <std::size_t kIndex, std::size_t kOther, std::size_t... Ks, class Type>
  requires Integer<Type> || IsTuple<Type>
constexpr auto Get(Type t) {
  return Get<kOther, Ks...>(Get<kIndex>(t));
}

// Equal when every element is; tuples of different nesting are not equal.
template <class... Ts, class... Us>
constexpr bool operator==(const Tuple<Ts...>& a, const Tuple<Us...>& b) {
  if constexpr (sizeof...(Ts) != sizeof...(Us)) {
    return false;
  } else {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      constexpr auto same = [](const auto& x, const auto& y) constexpr {
        if constexpr (IsTuple<decltype(x)> == IsTuple<decltype(y)>) {
          return x == y;
        } else {
          return false;
        }
      };
      return (same(Get<Is>(a), Get<Is>(b)) && ... && true);
    }(std::index_sequence_for<Ts...>{});
  }
}

}  // namespace weft::layouts
