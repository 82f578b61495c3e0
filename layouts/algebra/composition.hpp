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

#include "weft/layouts/algebra/flat_modes.hpp"

namespace weft::layouts {
namespace detail {

// See IsComposable. `used[i]` is how far into A's digit i the modes of B seen so far reach
// together.
template <std::size_t kModes, class Type, std::size_t kOtherModes, class OtherType>
constexpr bool DigitsFit(const FlatModes<kModes, Type>& a,
                         const FlatModes<kOtherModes, OtherType>& b) {
  std::int64_t used[kModes] = {};
  for (std::size_t k = 0; k < kOtherModes; ++k) {
    std::int64_t s = b.extent[k];
    std::int64_t d = b.stride[k];
    if (d < 0) return false;
    if (s == 1 || d == 0) continue;
    for (std::size_t i = 0; i + 1 < kModes && s > 1; ++i) {
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
  for (std::size_t i = 0; i + 1 < kModes; ++i) {
    if (used[i] >= a.extent[i]) return false;  // a sum of two modes' digits would carry
  }
  return true;
}

// The one mode s:d, through A's modes from kIndex on.
template <std::size_t kIndex, IsLayout LayoutA, class StrideT, class StrideD, IsLayout Done>
constexpr auto ComposeFrom(LayoutA a, StrideT s, StrideD d, Done done) {
  const auto si = Get<kIndex>(a.shape());
  const auto di = Get<kIndex>(a.stride());
  if constexpr (IsInt<StrideT, 1>) {
    return done;
  } else if constexpr (IsInt<StrideD, 0>) {
    return AppendMode(done, s, d);
  } else if constexpr (kIndex + 1 == kRank<LayoutA>) {
    return AppendMode(done, s, d * di);
  } else {
    const auto steps = [&]() constexpr {
      if constexpr (StaticInteger<StrideD>) {
        return Min(CeilDiv(si, d), s);
      } else {
        return d == 0 ? Max(s, Int<0>{}) : Min(CeilDiv(si, d), s);
      }
    }();
    return ComposeFrom<kIndex + 1>(a, s / steps, CeilDiv(d, si), AppendMode(done, steps, d * di));
  }
}

// Over the nesting of B.
template <IsLayout LayoutA, class Shape, class Stride>
constexpr auto ComposeNested(LayoutA a, Shape shape, Stride stride) {
  if constexpr (IsTuple<Shape>) {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      if constexpr (sizeof...(Is) == 0) {
        return Layout<Tuple<>, Tuple<>>{};
      } else {
        return MakeLayout(ComposeNested(a, Get<Is>(shape), Get<Is>(stride))...);
      }
    }(std::make_index_sequence<kTupleSize<Shape>>{});
  } else if constexpr (kRank<LayoutA> == 1) {
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
template <IsLayout LayoutA, IsLayout LayoutB>
constexpr bool IsComposable(LayoutA a, LayoutB b) {
  return detail::DigitsFit(detail::CoalescedModesOf(a), detail::FlatModesOf(b));
}

// c -> a(b(c)).
template <IsLayout LayoutA, IsLayout LayoutB>
constexpr auto Composition(LayoutA a, LayoutB b) {
  if constexpr (IsStatic<typename LayoutA::Shape> && IsStatic<LayoutB>) {
    // Of a's strides only those known at compile time help to merge its modes.
    static_assert(
        detail::DigitsFit(detail::CoalescedModesOf(LayoutA{}), detail::FlatModesOf(LayoutB{})),
        "layouts: Composition(A, B): a mode s:d of B must divide its way through the "
        "extents of A (d divides an extent or is a multiple of it, and the part it takes "
        "divides s), and modes of B must not add up past an extent of A");
  }
  return detail::ComposeNested(detail::CoalesceToTuple(a), b.shape(), b.stride());
}

// A tiler says for one mode which elements to take: a layout, or n for n:1, or an underscore for
// all of it; or it is a tuple with one tiler for each of the first modes, and the other modes stay.
template <IsLayout LayoutA, class Tiler>
  requires(!IsLayout<Tiler>)
constexpr auto Composition(LayoutA a, Tiler tiler) {
  if constexpr (std::is_same_v<Tiler, Underscore>) {
    return a;
  } else if constexpr (Integer<Tiler>) {
    return Composition(a, MakeLayout(tiler));
  } else {
    static_assert(kTupleSize<Tiler> <= kRank<LayoutA>,
                  "layouts: Composition(A, tiler): the tiler has more entries than A has modes");
    return [&]<std::size_t... Is, std::size_t... Js>(std::index_sequence<Is...>,
                                                     std::index_sequence<Js...>) constexpr {
      return MakeLayout(Composition(Get<Is>(a), Get<Is>(tiler))...,
                        Get<kTupleSize<Tiler> + Js>(a)...);
    }(std::make_index_sequence<kTupleSize<Tiler>>{},
           std::make_index_sequence<kRank<LayoutA> - kTupleSize<Tiler>>{});
  }
}

}  // namespace weft::layouts
