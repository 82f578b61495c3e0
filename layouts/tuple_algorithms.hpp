// Operations on nested tuples. Where a tuple is expected, an integer stands for itself.
#pragma once

#include <cstddef>
#include <utility>

#include "weft/layouts/tuple.hpp"

namespace weft::layouts {

// f(t0, t1, ...) for the elements of t.
template <IsTuple T, class F>
constexpr auto Apply(T t, F f) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return f(Get<I>(t)...);
  }
  (std::make_index_sequence<kTupleSize<T>>{});
}

// Calls f(t0), f(t1), ... in this order; f(t) for an integer.
template <class T, class F>
constexpr void ForEach(T t, F f) {
  if constexpr (IsTuple<T>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
      (static_cast<void>(f(Get<I>(t))), ...);
    }
    (std::make_index_sequence<kTupleSize<T>>{});
  } else {
    static_cast<void>(f(t));
  }
}

// (f(t0), f(t1), ...); f(t) for an integer. The order of the calls is not specified.
template <class T, class F>
constexpr auto Transform(T t, F f) {
  if constexpr (IsTuple<T>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
      return MakeTuple(f(Get<I>(t))...);
    }
    (std::make_index_sequence<kTupleSize<T>>{});
  } else {
    return f(t);
  }
}

// (f(t0, u0), f(t1, u1), ...); t and u have the same number of elements.
template <class T, class U, class F>
constexpr auto Transform(T t, U u, F f) {
  if constexpr (IsTuple<T>) {
    static_assert(kTupleSize<T> == kTupleSize<U>,
                  "layouts: Transform(t, u, f): t and u have different numbers of elements");
    return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
      return MakeTuple(f(Get<I>(t), Get<I>(u))...);
    }
    (std::make_index_sequence<kTupleSize<T>>{});
  } else {
    return f(t, u);
  }
}

// f at every leaf, whatever the depth; the nesting stays.
template <class T, class F>
constexpr auto TransformLeaves(T t, F f) {
  if constexpr (IsTuple<T>) {
    return Transform(
        t, [&](const auto& x) constexpr { return TransformLeaves(x, f); });
  } else {
    return f(t);
  }
}

namespace detail {
template <std::size_t I, class T, class V, class F>
constexpr auto FoldFrom(T t, V v, F f) {
  if constexpr (I == kTupleSize<T>) {
    return v;
  } else {
    return FoldFrom<I + 1>(t, f(v, Get<I>(t)), f);
  }
}
}  // namespace detail

// f(... f(f(init, t0), t1) ..., tn); the type of the value may change at each step.
template <class T, class V, class F>
constexpr auto Fold(T t, V init, F f) {
  if constexpr (IsTuple<T>) {
    return detail::FoldFrom<0>(t, init, f);
  } else {
    return f(init, t);
  }
}

// x itself if it is a tuple, else (x).
template <class T>
constexpr auto AsTuple(T x) {
  if constexpr (IsTuple<T>) {
    return x;
  } else {
    return MakeTuple(x);
  }
}

// (a0, ..., an, b0, ..., bm, ...).
constexpr Tuple<> Concat() {
  return {};
}
template <IsTuple A>
constexpr A Concat(A a) {
  return a;
}
template <IsTuple A, IsTuple B, IsTuple... Rest>
constexpr auto Concat(A a, B b, Rest... rest) {
  auto ab = [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>,
                                                    std::index_sequence<J...>) constexpr {
    return MakeTuple(Get<I>(a)..., Get<J>(b)...);
  }
  (std::make_index_sequence<kTupleSize<A>>{}, std::make_index_sequence<kTupleSize<B>>{});
  return Concat(ab, rest...);
}

// (t0, ..., tn, x).
template <class T, class X>
constexpr auto Append(T t, X x) {
  return Concat(AsTuple(t), MakeTuple(x));
}

// (t_i, t_j, ...) for the indices given.
template <std::size_t... I, class T>
requires Integer<T> || IsTuple<T>
constexpr auto Select(T t) {
  return MakeTuple(Get<I>(t)...);
}

// (t_B, ..., t_{E-1}).
template <std::size_t B, std::size_t E, class T>
constexpr auto Take(T t) {
  static_assert(B <= E, "layouts: Take<b, e>: b must not be past e");
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return MakeTuple(Get<B + I>(t)...);
  }
  (std::make_index_sequence<E - B>{});
}

// (t0, ..., (t_B, ..., t_{E-1}), t_E, ...): elements B to E become one nested element.
template <std::size_t B, std::size_t E, IsTuple T>
constexpr auto Group(T t) {
  static_assert(B <= E && E <= kTupleSize<T>, "layouts: Group<b, e>: needs b <= e <= rank");
  return Concat(Take<0, B>(t), MakeTuple(Take<B, E>(t)), Take<E, kTupleSize<T>>(t));
}

// t with element I replaced by x.
template <std::size_t I, IsTuple T, class X>
constexpr auto Replace(T t, X x) {
  static_assert(I < kTupleSize<T>, "layouts: Replace<i>: the tuple has no element i");
  return Concat(Take<0, I>(t), MakeTuple(x), Take<I + 1, kTupleSize<T>>(t));
}

// n copies of x.
template <std::size_t N, class X>
constexpr auto Repeat(X x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
    return MakeTuple((static_cast<void>(I), x)...);
  }
  (std::make_index_sequence<N>{});
}

// The leaves of t from left to right as one flat tuple, also for an integer.
template <class T>
constexpr auto FlattenToTuple(T t) {
  if constexpr (IsTuple<T>) {
    return Apply(
        t, [](const auto&... x) constexpr { return Concat(FlattenToTuple(x)...); });
  } else {
    return MakeTuple(t);
  }
}

// The leaves of t from left to right as one flat tuple; an integer stays as it is.
template <class T>
constexpr auto Flatten(T t) {
  if constexpr (IsTuple<T>) {
    return FlattenToTuple(t);
  } else {
    return t;
  }
}

// The number of leaves of T.
template <class T>
inline constexpr std::size_t kLeaves = kTupleSize<decltype(FlattenToTuple(std::declval<T>()))>;

namespace detail {
template <std::size_t First, class Flat, class Profile>
constexpr auto UnflattenFrom(Flat flat, Profile profile) {
  if constexpr (!IsTuple<Profile>) {
    return Get<First>(flat);
  } else {
    // The running count of leaves says where each element's leaves begin.
    return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
      constexpr auto begin = []<std::size_t K>() constexpr {
        return kLeaves<decltype(Take<0, K>(std::declval<Profile>()))>;
      };
      return MakeTuple(
          UnflattenFrom<First + begin.template operator()<I>()>(flat, Get<I>(profile))...);
    }
    (std::make_index_sequence<kTupleSize<Profile>>{});
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
