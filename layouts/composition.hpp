// Composition: one layout's offsets read as another's indices.
//
// Definition. Composition(A, B)(c) = A(B(c)) for every coordinate c of B with B(c) < Size(A), and
// the shape of B is compatible with the result's: each mode of B stays one (possibly nested) mode.
//
// A mode s:d of B walks through A in steps of d. Over A's modes (s0, s1, ...):(d0, d1, ...), read
// as the digits of a mixed-radix number, s:d takes min(s, s0/d) steps within the first digit, and
// goes on with what is left of s and d over the second. That is a layout when no step straddles a
// digit: IsComposable says so for numbers at hand. The last digit has no end, so B may reach past
// A.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/layouts/flat_modes.hpp"

namespace weft::layouts {
namespace detail {

// See IsComposable. `used[i]` is how far into A's digit i the modes of B seen so far reach
// together.
template <std::size_t R, class T, std::size_t Q, class U>
constexpr bool DigitsFit(const FlatModes<R, T>& a, const FlatModes<Q, U>& b) {
  std::int64_t used[R] = {};
  for (std::size_t k = 0; k < Q; ++k) {
    std::int64_t s = b.extent[k];
    std::int64_t d = b.stride[k];
    if (d < 0) return false;
    if (s == 1 || d == 0) continue;
    for (std::size_t i = 0; i + 1 < R && s > 1; ++i) {
      const std::int64_t si = a.extent[i];
      if ((s - 1) * d < si) {  // all steps within this digit
        used[i] += (s - 1) * d;
        s = 1;
      } else if (si % d == 0) {  // some steps here, the rest in the next digits
        if (s % (si / d) != 0) return false;
        used[i] += si - d;
        s /= si / d;
        d = 1;
      } else if (d % si == 0) {  // steps over this digit
        d /= si;
      } else {
        return false;
      }
    }
  }
  for (std::size_t i = 0; i + 1 < R; ++i) {
    if (used[i] >= a.extent[i]) return false;  // a sum of two modes' digits would carry
  }
  return true;
}

// The one mode s:d, through A's modes from I on.
template <std::size_t I, IsLayout A, class S, class D, IsLayout Done>
constexpr auto ComposeFrom(A a, S s, D d, Done done) {
  const auto si = Get<I>(a.shape());
  const auto di = Get<I>(a.stride());
  if constexpr (IsInt<S, 1>) {
    return done;
  } else if constexpr (IsInt<D, 0>) {
    return AppendMode(done, s, d);
  } else if constexpr (I + 1 == kRank<A>) {
    return AppendMode(done, s, d * di);
  } else {
    const auto steps = [&]() constexpr {
      if constexpr (StaticInteger<D>) {
        return Min(CeilDiv(si, d), s);
      } else {
        return d == 0 ? Max(s, Int<0>{}) : Min(CeilDiv(si, d), s);
      }
    }
    ();
    return ComposeFrom<I + 1>(a, s / steps, CeilDiv(d, si), AppendMode(done, steps, d * di));
  }
}

// Over the nesting of B.
template <IsLayout A, class Shape, class Stride>
constexpr auto ComposeNested(A a, Shape shape, Stride stride) {
  if constexpr (IsTuple<Shape>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) constexpr {
      if constexpr (sizeof...(I) == 0) {
        return Layout<Tuple<>, Tuple<>>{};
      } else {
        return MakeLayout(ComposeNested(a, Get<I>(shape), Get<I>(stride))...);
      }
    }
    (std::make_index_sequence<kTupleSize<Shape>>{});
  } else if constexpr (kRank<A> == 1) {
    return MakeLayout(shape, stride * Get<0>(a.stride()));
  } else {
    return Unwrap(ComposeFrom<0>(a, shape, stride, Layout<Tuple<>, Tuple<>>{}));
  }
}

}  // namespace detail

// Whether Composition(a, b) is defined: each mode s:d of b divides its way through a's extents (d
// divides an extent or is divided by it, and what it takes of an extent divides s), no two modes of
// b add up to a carry from one of a's modes into the next, and no stride of b is negative. For
// layouts with run-time numbers this is the caller's duty.
template <IsLayout A, IsLayout B>
constexpr bool IsComposable(A a, B b) {
  return detail::DigitsFit(detail::CoalescedModesOf(a), detail::FlatModesOf(b));
}

// c -> a(b(c)).
template <IsLayout A, IsLayout B>
constexpr auto Composition(A a, B b) {
  if constexpr (IsStatic<typename A::Shape> && IsStatic<B>) {
    // Of a's strides only those known at compile time help to merge its modes.
    static_assert(detail::DigitsFit(detail::CoalescedModesOf(A{}), detail::FlatModesOf(B{})),
                  "layouts: Composition(A, B): a mode s:d of B must divide its way through the "
                  "extents of A (d divides an extent or is a multiple of it, and the part it takes "
                  "divides s), and modes of B must not add up past an extent of A");
  }
  return detail::ComposeNested(detail::CoalesceToTuple(a), b.shape(), b.stride());
}

// A tiler says for one mode which elements to take: a layout, or n for n:1, or an underscore for
// all of it; or it is a tuple with one tiler for each of the first modes, and the other modes stay.
template <IsLayout A, class Tiler>
requires(!IsLayout<Tiler>) constexpr auto Composition(A a, Tiler tiler) {
  if constexpr (std::is_same_v<Tiler, Underscore>) {
    return a;
  } else if constexpr (Integer<Tiler>) {
    return Composition(a, MakeLayout(tiler));
  } else {
    static_assert(kTupleSize<Tiler> <= kRank<A>,
                  "layouts: Composition(A, tiler): the tiler has more entries than A has modes");
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>,
                                                   std::index_sequence<J...>) constexpr {
      return MakeLayout(Composition(Get<I>(a), Get<I>(tiler))..., Get<kTupleSize<Tiler> + J>(a)...);
    }
    (std::make_index_sequence<kTupleSize<Tiler>>{},
     std::make_index_sequence<kRank<A> - kTupleSize<Tiler>>{});
  }
}

}  // namespace weft::layouts
