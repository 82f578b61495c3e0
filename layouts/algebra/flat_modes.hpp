// The numbers of a layout as plain arrays: what the algebra's conditions and its run-time paths
// compute with. A detail of the algebra.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/layouts/algebra/coalesce.hpp"

namespace weft::layouts::detail {

// The modes of a flat layout. index[k] is the place mode k had before any sorting.
template <std::size_t kModes, class Type>
struct FlatModes {
  static constexpr std::size_t kCount = kModes;
  Type extent[kModes];
  Type stride[kModes];
  std::size_t index[kModes];

  // Contributes nothing to the set of offsets.
  constexpr bool trivial(std::size_t k) const { return extent[k] == 1 || stride[k] == 0; }
};

// The type that sums of the layout's numbers have: int32, or int64 if any of them is.
template <class... Ts>
constexpr auto CommonInteger(const Tuple<Ts...>&) {
  return (std::int32_t{0} + ... + Ts{});
}

// The modes of a layout, one for each leaf.
template <IsLayout LayoutT>
constexpr auto FlatModesOf(LayoutT layout) {
  const auto extents = FlattenToTuple(layout.shape());
  const auto strides = FlattenToTuple(layout.stride());
  constexpr std::size_t kCount = kTupleSize<decltype(extents)>;
  using Type = decltype(CommonInteger(extents) + CommonInteger(strides));
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return FlatModes<kCount, Type>{{static_cast<Type>(Get<Is>(extents))...},
                                   {static_cast<Type>(Get<Is>(strides))...},
                                   {Is...}};
  }(std::make_index_sequence<kCount>{});
}

// The same, coalesced as far as the layout's type allows.
template <IsLayout LayoutT>
constexpr auto CoalescedModesOf(LayoutT layout) {
  return FlatModesOf(CoalesceToTuple(layout));
}

// Sorted by stride, trivial modes first; equal ones keep their order.
template <std::size_t kModes, class Type>
constexpr FlatModes<kModes, Type> SortedByStride(FlatModes<kModes, Type> m) {
  const auto before = [&m](std::size_t a, std::size_t b) constexpr {
    if (m.trivial(a) || m.trivial(b)) return m.trivial(a) && !m.trivial(b);
    return m.stride[a] < m.stride[b];
  };
  for (std::size_t i = 1; i < kModes; ++i) {
    for (std::size_t k = i; k > 0 && before(k, k - 1); --k) {
      const Type extent = m.extent[k], stride = m.stride[k];
      const std::size_t index = m.index[k];
      m.extent[k] = m.extent[k - 1];
      m.stride[k] = m.stride[k - 1];
      m.index[k] = m.index[k - 1];
      m.extent[k - 1] = extent;
      m.stride[k - 1] = stride;
      m.index[k - 1] = index;
    }
  }
  return m;
}

// A run-time flat layout from arrays.
template <std::size_t kModes, class Type>
constexpr auto LayoutOf(const Type (&extent)[kModes], const Type (&stride)[kModes]) {
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
    return Unwrap(MakeLayout(MakeTuple(extent[Is]...), MakeTuple(stride[Is]...)));
  }(std::make_index_sequence<kModes>{});
}

}  // namespace weft::layouts::detail
