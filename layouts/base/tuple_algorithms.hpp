// Operations on nested tuples. Where a tuple is expected, an integer stands for itself.
#pragma once

#include <cstddef>
#include <utility>

#include "weft/layouts/base/tuple.hpp"

namespace weft::layouts {

// f(t0, t1, ...) for the elements of t.
template <IsTuple TupleT, class Function>
constexpr auto Apply(TupleT t, Function f) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return f(Get<Is>(t)...);
  }(std::make_index_sequence<kTupleSize<TupleT>>{});
}

// Calls f(t0), f(t1), ... in this order; f(t) for an integer.
template <class Type, class Function>
constexpr void ForEach(Type t, Function f) {
  if constexpr (IsTuple<Type>) {
    [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      (static_cast<void>(f(Get<Is>(t))), ...);
    }(std::make_index_sequence<kTupleSize<Type>>{});
  } else {
    static_cast<void>(f(t));
  }
}

// (f(t0), f(t1), ...); f(t) for an integer. The order of the calls is not specified.
template <class Type, class Function>
constexpr auto Transform(Type t, Function f) {
  if constexpr (IsTuple<Type>) {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return MakeTuple(f(Get<Is>(t))...);
    }(std::make_index_sequence<kTupleSize<Type>>{});
  } else {
    return f(t);
  }
}

// (f(t0, u0), f(t1, u1), ...); t and u have the same number of elements.
template <class Type, class OtherType, class Function>
constexpr auto Transform(Type t, OtherType u, Function f) {
  if constexpr (IsTuple<Type>) {
    static_assert(kTupleSize<Type> == kTupleSize<OtherType>,
                  "layouts: Transform(t, u, f): t and u have different numbers of elements");
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return MakeTuple(f(Get<Is>(t), Get<Is>(u))...);
    }(std::make_index_sequence<kTupleSize<Type>>{});
  } else {
    return f(t, u);
  }
}

// f at every leaf, whatever the depth; the nesting stays.
template <class Type, class Function>
constexpr auto TransformLeaves(Type t, Function f) {
  if constexpr (IsTuple<Type>) {
    return Transform(t, [&](const auto& x) constexpr { return TransformLeaves(x, f); });
  } else {
    return f(t);
  }
}

namespace detail {
template <std::size_t kIndex, class Type, class Start, class Function>
constexpr auto FoldFrom(Type t, Start v, Function f) {
  if constexpr (kIndex == kTupleSize<Type>) {
    return v;
  } else {
    return FoldFrom<kIndex + 1>(t, f(v, Get<kIndex>(t)), f);
  }
}
}  // namespace detail

// f(... f(f(init, t0), t1) ..., tn); the type of the value may change at each step.
template <class Type, class Start, class Function>
constexpr auto Fold(Type t, Start init, Function f) {
  if constexpr (IsTuple<Type>) {
    return detail::FoldFrom<0>(t, init, f);
  } else {
    return f(init, t);
  }
}

// x itself if it is a tuple, else (x).
template <class Type>
constexpr auto AsTuple(Type x) {
  if constexpr (IsTuple<Type>) {
    return x;
  } else {
    return MakeTuple(x);
  }
}

// (a0, ..., an, b0, ..., bm, ...).
constexpr Tuple<> Concat() {
  return {};
}
template <IsTuple TupleA>
constexpr TupleA Concat(TupleA a) {
  return a;
}
template <IsTuple TupleA, IsTuple TupleB, IsTuple... Rest>
constexpr auto Concat(TupleA a, TupleB b, Rest... rest) {
  auto ab = [&]<std::size_t... Is, std::size_t... Js>(std::index_sequence<Is...>,
                                                      std::index_sequence<Js...>) constexpr {
    return MakeTuple(Get<Is>(a)..., Get<Js>(b)...);
  }(std::make_index_sequence<kTupleSize<TupleA>>{}, std::make_index_sequence<kTupleSize<TupleB>>{});
  return Concat(ab, rest...);
}

// (t0, ..., tn, x).
template <class Type, class Item>
constexpr auto Append(Type t, Item x) {
  return Concat(AsTuple(t), MakeTuple(x));
}

// (t_i, t_j, ...) for the indices given.
template <std::size_t... Is, class Type>
  requires Integer<Type> || IsTuple<Type>
constexpr auto Select(Type t) {
  return MakeTuple(Get<Is>(t)...);
}

// (t_B, ..., t_{E-1}).
template <std::size_t kBegin, std::size_t kEnd, class Type>
constexpr auto Take(Type t) {
  static_assert(kBegin <= kEnd, "layouts: Take<b, e>: b must not be past e");
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeTuple(Get<kBegin + Is>(t)...);
  }(std::make_index_sequence<kEnd - kBegin>{});
}

// (t0, ..., (t_B, ..., t_{E-1}), t_E, ...): elements B to E become one nested element.
template <std::size_t kBegin, std::size_t kEnd, IsTuple TupleT>
constexpr auto Group(TupleT t) {
  static_assert(kBegin <= kEnd && kEnd <= kTupleSize<TupleT>,
                "layouts: Group<b, e>: needs b <= e <= rank");
  return Concat(Take<0, kBegin>(t), MakeTuple(Take<kBegin, kEnd>(t)),
                Take<kEnd, kTupleSize<TupleT>>(t));
}

// t with element kIndex replaced by x.
template <std::size_t kIndex, IsTuple TupleT, class Item>
constexpr auto Replace(TupleT t, Item x) {
  static_assert(kIndex < kTupleSize<TupleT>, "layouts: Replace<i>: the tuple has no element i");
  return Concat(Take<0, kIndex>(t), MakeTuple(x), Take<kIndex + 1, kTupleSize<TupleT>>(t));
}

// n copies of x.
template <std::size_t kCount, class Item>
constexpr auto Repeat(Item x) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeTuple((static_cast<void>(Is), x)...);
  }(std::make_index_sequence<kCount>{});
}

// The leaves of t from left to right as one flat tuple, also for an integer.
template <class Type>
constexpr auto FlattenToTuple(Type t) {
  if constexpr (IsTuple<Type>) {
    return Apply(t, [](const auto&... x) constexpr { return Concat(FlattenToTuple(x)...); });
  } else {
    return MakeTuple(t);
  }
}

// The leaves of t from left to right as one flat tuple; an integer stays as it is.
template <class Type>
constexpr auto Flatten(Type t) {
  if constexpr (IsTuple<Type>) {
    return FlattenToTuple(t);
  } else {
    return t;
  }
}

// The number of leaves of Type.
template <class Type>
inline constexpr std::size_t kLeaves = kTupleSize<decltype(FlattenToTuple(std::declval<Type>()))>;

namespace detail {
template <std::size_t First, class Flat, class Profile>
constexpr auto UnflattenFrom(Flat flat, Profile profile) {
  if constexpr (!IsTuple<Profile>) {
    return Get<First>(flat);
  } else {
    // The running count of leaves says where each element's leaves begin.
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      constexpr auto begin = []<std::size_t kMode>() constexpr {
        return kLeaves<decltype(Take<0, kMode>(std::declval<Profile>()))>;
      };
      return MakeTuple(
          UnflattenFrom<First + begin.template operator()<Is>()>(flat, Get<Is>(profile))...);
    }(std::make_index_sequence<kTupleSize<Profile>>{});
  }
}
}  // namespace detail

// The flat list given the nesting of profile, so that Flatten(Unflatten(flat, profile)) is flat.
template <class Flat, class Profile>
constexpr auto Unflatten(Flat flat, Profile profile) {
  static_assert(kLeaves<Flat> == kLeaves<Profile>,
                "layouts: Unflatten(flat, profile): the numbers of leaves differ");
  return detail::UnflattenFrom<0>(AsTuple(flat), profile);
}

}  // namespace weft::layouts
