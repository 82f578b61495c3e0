// RightInverse and LeftInverse: from an offset back to a linear index.
//
// Definitions. RightInverse(A) = R with A(R(i)) = i for every i in [0, Size(R)).
//              LeftInverse(A) = L with L(A(i)) = i for every i in [0, Size(A)).
//
// R follows A's modes in the order of their strides as long as each stride is the size of what came
// before (1, s, s*t, ...), and returns to each mode's place among A's own indices. L is the right
// inverse of (A, Complement(A)), which has no gaps and therefore a full one.
#pragma once

#include <cstddef>

#include "weft/layouts/algebra/complement.hpp"

namespace weft::layouts {
namespace detail {

// The right inverse of these modes as arrays; modes past the first gap become 1:0.
template <std::size_t kModes, class Type>
constexpr FlatModes<kModes, Type> RightInverseModes(const FlatModes<kModes, Type>& modes) {
  const FlatModes<kModes, Type> sorted = SortedByStride(modes);
  Type place[kModes] = {};  // the index of the first element of each mode
  Type size = 1;
  for (std::size_t k = 0; k < kModes; ++k) {
    place[k] = size;
    size *= modes.extent[k];
  }
  FlatModes<kModes, Type> result{};
  for (std::size_t k = 0; k < kModes; ++k) result.extent[k] = 1;
  Type reached = 1;
  for (std::size_t k = 0; k < kModes; ++k) {
    if (sorted.trivial(k)) continue;
    if (sorted.stride[k] != reached) break;
    result.extent[k] = sorted.extent[k];
    result.stride[k] = place[sorted.index[k]];
    reached *= sorted.extent[k];
  }
  return result;
}

template <std::size_t kModes, class Type>
constexpr bool NoStrideRepeats(const FlatModes<kModes, Type>& m) {
  for (std::size_t k = 0; k < kModes; ++k) {
    if (m.stride[k] == 0 && m.extent[k] != 1) return false;
  }
  return GapsAreWhole(m);
}

}  // namespace detail

// The right inverse with as many elements as a's modes give, 1:0 if none has stride 1. Static if a
// is.
template <IsLayout LayoutA>
constexpr auto RightInverse(LayoutA a) {
  const auto modes = detail::CoalesceToTuple(a);
  constexpr std::size_t kCount = kRank<decltype(modes)>;
  if constexpr (IsStatic<decltype(modes)>) {
    return [&]<std::size_t... Ks>(std::index_sequence<Ks...>) constexpr {
      constexpr auto kInverse = detail::RightInverseModes(detail::CoalescedModesOf(LayoutA{}));
      return Coalesce(MakeLayout(MakeTuple(Int<kInverse.extent[Ks]>{}...),
                                 MakeTuple(Int<kInverse.stride[Ks]>{}...)));
    }(std::make_index_sequence<kCount>{});
  } else if constexpr (kCount == 1 && IsInt<decltype(Get<0>(modes.stride())), 1>) {
    return Get<0>(modes);
  } else {
    const auto inverse = detail::RightInverseModes(detail::CoalescedModesOf(a));
    return detail::LayoutOf(inverse.extent, inverse.stride);
  }
}

// Whether LeftInverse(a) is defined: a is complementable and sends no two indices to one offset.
template <IsLayout LayoutA>
constexpr bool IsLeftInvertible(LayoutA a) {
  return detail::NoStrideRepeats(detail::CoalescedModesOf(a));
}

// The left inverse. Offsets that a does not take have some index as well, without meaning.
template <IsLayout LayoutA>
constexpr auto LeftInverse(LayoutA a) {
  if constexpr (IsStatic<LayoutA>) {
    static_assert(detail::NoStrideRepeats(detail::CoalescedModesOf(LayoutA{})),
                  "layouts: LeftInverse(A): A must not send two indices to one offset, and sorted "
                  "by stride each stride must be a multiple of extent * stride before it");
  }
  return RightInverse(MakeLayout(a, Complement(a)));
}

}  // namespace weft::layouts
