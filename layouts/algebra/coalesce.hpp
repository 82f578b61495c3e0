// Coalesce: the same function with as few modes as possible.
//
// Definition. Coalesce(A) has depth 0 or 1, Size(Coalesce(A)) = Size(A), and
// Coalesce(A)(i) = A(i) for every linear index i in [0, Size(A)).
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/layouts/algebra/layout.hpp"

namespace weft::layouts {
namespace detail {

// A flat layout with one more mode. A static extent of 1 adds nothing.
template <IsLayout LayoutT, class Extent, class Stride>
constexpr auto AppendMode(LayoutT flat, Extent extent, Stride stride) {
  if constexpr (IsInt<Extent, 1>) {
    return flat;
  } else {
    return MakeLayout(Append(flat.shape(), extent), Append(flat.stride(), stride));
  }
}

// A flat list of modes as a layout: no mode is 1:0, one mode is s:d.
template <IsLayout LayoutT>
constexpr auto Unwrap(LayoutT flat) {
  if constexpr (kRank<LayoutT> == 0) {
    return MakeLayout(Int<1>{}, Int<0>{});
  } else if constexpr (kRank<LayoutT> == 1) {
    return Get<0>(flat);
  } else {
    return flat;
  }
}

// (s0, s):(d0, d) is the one mode s0*s:d0 when d = s0*d0.
template <class S0, class D0, class StrideD>
constexpr bool Mergeable() {
  if constexpr (IsInt<D0, 0> && IsInt<StrideD, 0>) {
    return true;
  } else if constexpr (StaticInteger<S0> && StaticInteger<D0> && StaticInteger<StrideD>) {
    return S0::value * static_cast<std::int64_t>(D0::value) == StrideD::value;
  } else {
    return false;
  }
}

// The modes from kIndex on of a flat layout, merged onto `done` where that is known to be right.
template <std::size_t kIndex, IsLayout LayoutT, IsLayout Done>
constexpr auto CoalesceFrom(LayoutT flat, Done done) {
  constexpr std::size_t kDone = kRank<Done>;
  if constexpr (kIndex == kRank<LayoutT>) {
    return done;
  } else {
    const auto s = Get<kIndex>(flat.shape());
    const auto d = Get<kIndex>(flat.stride());
    if constexpr (kDone > 0 && !IsInt<decltype(s), 1>) {
      const auto s0 = Get<kDone - 1>(done.shape());
      const auto d0 = Get<kDone - 1>(done.stride());
      if constexpr (Mergeable<std::remove_cvref_t<decltype(s0)>, std::remove_cvref_t<decltype(d0)>,
                              std::remove_cvref_t<decltype(d)>>()) {
        return CoalesceFrom<kIndex + 1>(flat, Replace<kDone - 1>(done, MakeLayout(s0 * s, d0)));
      } else {
        return CoalesceFrom<kIndex + 1>(flat, AppendMode(done, s, d));
      }
    } else {
      return CoalesceFrom<kIndex + 1>(flat, AppendMode(done, s, d));
    }
  }
}

// Coalesce, but always a flat tuple of at least one mode.
template <IsLayout LayoutT>
constexpr auto CoalesceToTuple(LayoutT layout) {
  const auto flat = MakeLayout(FlattenToTuple(layout.shape()), FlattenToTuple(layout.stride()));
  const auto modes = CoalesceFrom<0>(flat, Layout<Tuple<>, Tuple<>>{});
  if constexpr (kRank<decltype(modes)> == 0) {
    return MakeLayout(MakeTuple(Int<1>{}), MakeTuple(Int<0>{}));
  } else {
    return modes;
  }
}

}  // namespace detail

// Drops modes of extent 1 and merges neighbours (s0, s1):(d0, s0*d0) into s0*s1:d0, as far as the
// types show it: modes with run-time numbers are kept. 1:0 for a single element.
template <IsLayout LayoutT>
constexpr auto Coalesce(LayoutT layout) {
  return detail::Unwrap(detail::CoalesceToTuple(layout));
}

// Each top-level mode coalesced by itself, so that the rank and every mode's size stay.
template <IsLayout LayoutT>
constexpr auto CoalesceModes(LayoutT layout) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return MakeLayout(Coalesce(Get<Is>(layout))...);
  }(std::make_index_sequence<kRank<LayoutT>>{});
}

}  // namespace weft::layouts
