// Complement: the offsets that a layout leaves out, as a layout.
//
// Definition. B = Complement(A, m) is such that
//   disjoint: A(i) + B(j) takes different values for different pairs (A(i), j);
//   ordered:  B(j) < B(j + 1);
//   filling:  the values A(i) + B(j) cover [0, m).
// Where Cosize(A) and m are multiples of each other they cover exactly [0, max(m, Cosize(A))), so
// (A, B) is then a bijection if A is injective.
//
// With A's modes sorted by stride, (s0, s1, ...):(d0, d1, ...), the gaps between them are
// (d0, d1/(s0*d0), ..., ceil(m/(sn*dn))):(1, s0*d0, ..., sn*dn).
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/layouts/algebra/flat_modes.hpp"

namespace weft::layouts {
namespace detail {

template <std::size_t kModes, class Type>
constexpr bool GapsAreWhole(const FlatModes<kModes, Type>& unsorted) {
  const FlatModes<kModes, Type> m = SortedByStride(unsorted);
  std::int64_t end = 1;
  for (std::size_t k = 0; k < kModes; ++k) {
    if (m.trivial(k)) continue;
    if (m.stride[k] < 0 || m.stride[k] % end != 0) return false;
    end = static_cast<std::int64_t>(m.extent[k]) * m.stride[k];
  }
  return true;
}

// The numbers of a flat layout with static strides; a run-time extent reads as 0.
template <class Shape, class Stride>
struct StaticModes;
template <class... Ss, class... Ds>
struct StaticModes<Tuple<Ss...>, Tuple<Ds...>> {
  template <class StrideT>
  static constexpr std::int64_t ExtentOrZero() {
    if constexpr (StaticInteger<StrideT>) {
      return StrideT::value;
    } else {
      return 0;
    }
  }

  static constexpr FlatModes<sizeof...(Ss), std::int64_t> Sorted() {
    FlatModes<sizeof...(Ss), std::int64_t> m{{ExtentOrZero<Ss>()...}, {Ds::value...}, {}};
    for (std::size_t i = 0; i < sizeof...(Ss); ++i) m.index[i] = i;
    return SortedByStride(m);
  }

  // The place of the mode with the K-th smallest stride.
  template <std::size_t kPlace>
  static constexpr std::size_t At() {
    constexpr auto kSorted = Sorted();
    return kSorted.index[kPlace];
  }

  // Whether the gaps can be found without run-time numbers: only the last mode's extent may be one,
  // as an extent that turns out to be 1 takes its mode out of the order.
  static constexpr bool kGapsKnown = []() constexpr {
    const auto m = Sorted();
    std::int64_t end = 1;
    for (std::size_t k = 0; k < sizeof...(Ss); ++k) {
      if (m.trivial(k)) continue;
      if (m.stride[k] % end != 0 || (m.extent[k] == 0 && k + 1 < sizeof...(Ss))) return false;
      end = m.extent[k] * m.stride[k];
    }
    return true;
  }();
};

template <IsLayout LayoutA>
constexpr bool GapsAreKnown() {
  if constexpr (IsStatic<typename LayoutA::Stride>) {
    return StaticModes<typename LayoutA::Shape, typename LayoutA::Stride>::kGapsKnown;
  } else {
    return false;
  }
}

// The gaps before the K-th smallest stride and all later ones, where they are known. `end` is the
// first offset past the modes seen so far.
template <std::size_t kPlace, IsLayout LayoutA, class Extent, class End, IsLayout Done>
constexpr auto ComplementFrom(LayoutA a, Extent m, End end, Done done) {
  if constexpr (kPlace == kRank<LayoutA>) {
    return AppendMode(done, CeilDiv(m, end), end);
  } else {
    constexpr std::size_t kMode =
        StaticModes<typename LayoutA::Shape, typename LayoutA::Stride>::template At<kPlace>();
    const auto s = Get<kMode>(a.shape());
    const auto d = Get<kMode>(a.stride());
    if constexpr (IsInt<decltype(s), 1> || IsInt<decltype(d), 0>) {
      return ComplementFrom<kPlace + 1>(a, m, end, done);
    } else {
      return ComplementFrom<kPlace + 1>(a, m, s * d, AppendMode(done, d / end, end));
    }
  }
}

}  // namespace detail

// Whether Complement(a, m) is defined: with the modes sorted by stride, each stride is a multiple
// of extent * stride of the one before. (Modes of stride 0 or extent 1 do not matter.)
template <IsLayout LayoutA>
constexpr bool IsComplementable(LayoutA a) {
  return detail::GapsAreWhole(detail::CoalescedModesOf(a));
}

// The layout of the offsets in [0, m) that a leaves out, beginning with 0. Static if a and m are.
template <IsLayout LayoutA, Integer Extent>
constexpr auto Complement(LayoutA a, Extent m) {
  const auto modes = detail::CoalesceToTuple(a);
  if constexpr (IsStatic<LayoutA>) {
    static_assert(
        detail::GapsAreWhole(detail::CoalescedModesOf(LayoutA{})),
        "layouts: Complement(A, m): sorted by stride, each stride of A must be a multiple "
        "of extent * stride of the mode before it");
  }
  if constexpr (detail::GapsAreKnown<std::remove_cvref_t<decltype(modes)>>()) {
    return Coalesce(detail::Unwrap(
        detail::ComplementFrom<0>(modes, AsInteger(m), Int<1>{}, Layout<Tuple<>, Tuple<>>{})));
  } else {
    const auto sorted = detail::SortedByStride(detail::CoalescedModesOf(a));
    constexpr std::size_t kCount = decltype(sorted)::kCount;
    using Type = decltype(sorted.stride[0] + AsInteger(m));
    Type extent[kCount + 1] = {};
    Type stride[kCount + 1] = {};
    Type end = 1;
    for (std::size_t k = 0; k < kCount; ++k) {
      stride[k] = end;
      extent[k] = sorted.trivial(k) ? Type{1} : static_cast<Type>(sorted.stride[k] / end);
      if (!sorted.trivial(k)) end = static_cast<Type>(sorted.extent[k]) * sorted.stride[k];
    }
    extent[kCount] = CeilDiv(AsInteger(m), end);
    stride[kCount] = end;
    return detail::LayoutOf(extent, stride);
  }
}

// The complement within a's own reach: Complement(a, Cosize(a)).
template <IsLayout LayoutA>
constexpr auto Complement(LayoutA a) {
  return Complement(a, Cosize(a));
}

}  // namespace weft::layouts
