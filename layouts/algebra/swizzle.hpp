// Swizzle: exchanges offsets by an exclusive or, so that a column of a shared-memory tile spreads
// over all banks; and ComposedLayout, a layout whose offsets are swizzled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "weft/layouts/algebra/divide.hpp"

namespace weft::layouts {

// Definition. For kShift > 0, bits [kBase, kBase + kBits) of the offset x become their exclusive or
// with bits [kBase + kShift, kBase + kShift + kBits):
//   x ^ ((x >> kShift) & mask),   mask = (2^kBits - 1) << kBase.
// For kShift < 0 the lower bits change the higher ones: x ^ ((x & mask) << -kShift).
// The source bits do not change, so the swizzle is its own inverse. Offsets are not negative.
// Swizzle<3, 4, 3> on bytes is the GPU's 128-byte swizzle.
template <int kBits, int kBase, int kShift>
struct Swizzle {
  static_assert(kBits >= 0 && kBase >= 0,
                "layouts: Swizzle<bits, base, shift>: bits and base must "
                "not be negative");
  static_assert((kShift < 0 ? -kShift : kShift) >= kBits,
                "layouts: Swizzle<bits, base, shift>: |shift| must be at least bits, or source and "
                "target bits overlap and the swizzle would not be its own inverse");
  static_assert(kBits + kBase + (kShift < 0 ? -kShift : kShift) < 31,
                "layouts: Swizzle<bits, base, shift>: bits + base + |shift| must stay below 31");

  // The swizzle maps each aligned block of this many offsets onto itself.
  static constexpr std::int32_t kPeriod = std::int32_t{1}
                                          << (kBase + kBits + (kShift < 0 ? -kShift : 0));
  // swizzle(x + n kRepeat) = swizzle(x) + n kRepeat.
  static constexpr std::int32_t kRepeat =
      kBits == 0 ? 1 : std::int32_t{1} << (kBase + kBits + (kShift < 0 ? -kShift : kShift));

  template <Integer IntegerT>
  constexpr auto operator()(IntegerT offset) const {
    if constexpr (StaticInteger<IntegerT>) {
      return Int<Apply(std::int64_t{IntegerT::value})>{};
    } else {
      return Apply(AsInteger(offset));
    }
  }

 private:
  template <class Type>
  static constexpr Type Apply(Type x) {
    constexpr Type kMask = ((Type{1} << kBits) - 1) << kBase;
    if constexpr (kShift >= 0) {
      return x ^ ((x >> kShift) & kMask);
    } else {
      return x ^ ((x & kMask) << -kShift);
    }
  }
};

// c -> swizzle(offset + layout(c)). The offset stands inside, because a swizzle depends on where in
// memory a tile begins: slices and tiles of a swizzled layout move it.
template <class SwizzleT, class Offset, IsLayout LayoutT>
struct ComposedLayout : detail::Leaf<0, Offset>, detail::Leaf<1, LayoutT> {
  using Swizzle = SwizzleT;
  using Shape = typename LayoutT::Shape;

  constexpr ComposedLayout() = default;
  constexpr ComposedLayout(Offset offset, LayoutT layout)
      : detail::Leaf<0, Offset>(offset), detail::Leaf<1, LayoutT>(layout) {}

  constexpr Offset offset() const { return detail::LeafValue<0, Offset>(*this); }
  constexpr LayoutT layout() const { return detail::LeafValue<1, LayoutT>(*this); }
  constexpr Shape shape() const { return layout().shape(); }

  // As for Layout; with an underscore, the slice that begins where the coordinate says.
  template <class... Cs>
  constexpr auto operator()(Cs... coord) const;
};

namespace detail {
template <class Type>
struct IsComposedTrait : std::false_type {};
template <class Sw, class Offset, class LayoutT>
struct IsComposedTrait<ComposedLayout<Sw, Offset, LayoutT>> : std::true_type {};

template <class Sw, class Offset, class LayoutT>
struct RankAndDepth<ComposedLayout<Sw, Offset, LayoutT>> : RankAndDepth<LayoutT> {};
template <class Sw, class Offset, class LayoutT>
struct AllStatic<ComposedLayout<Sw, Offset, LayoutT>> {
  static constexpr bool kValue = AllStatic<Offset>::kValue && AllStatic<LayoutT>::kValue;
};
}  // namespace detail

// Type is a ComposedLayout.
template <class Type>
concept IsComposedLayout = detail::IsComposedTrait<std::remove_cvref_t<Type>>::value;

// swizzle of (offset + layout).
template <int kBits, int kBase, int kShift, Integer Offset, IsLayout LayoutT>
constexpr auto MakeComposedLayout(Swizzle<kBits, kBase, kShift>, Offset offset, LayoutT layout) {
  using OffsetT = decltype(AsInteger(offset));
  return ComposedLayout<Swizzle<kBits, kBase, kShift>, OffsetT, LayoutT>(AsInteger(offset), layout);
}

// Composition(swizzle, layout): c -> swizzle(layout(c)).
template <int kBits, int kBase, int kShift, IsLayout LayoutT>
constexpr auto Composition(Swizzle<kBits, kBase, kShift> swizzle, LayoutT layout) {
  return MakeComposedLayout(swizzle, Int<0>{}, layout);
}

// The same swizzle and offset over f(layout): the algebra below acts on the inner layout.
template <IsComposedLayout Composed, class Function>
constexpr auto TransformLayout(Composed c, Function f) {
  return MakeComposedLayout(typename Composed::Swizzle{}, c.offset(), f(c.layout()));
}

template <class Sw, class Offset, IsLayout LayoutT>
template <class... Cs>
constexpr auto ComposedLayout<Sw, Offset, LayoutT>::operator()(Cs... coord) const {
  if constexpr (sizeof...(Cs) != 1) {
    return (*this)(MakeTuple(coord...));
  } else if constexpr ((HasUnderscore<Cs> && ...)) {
    return SliceAndOffset(*this, coord...).layout;
  } else {
    return Sw{}(offset() + layout()(coord...));
  }
}

template <IsComposedLayout Composed>
constexpr auto Size(Composed c) {
  return Size(c.layout());
}
template <std::size_t kIndex, std::size_t... Js, IsComposedLayout Composed>
constexpr auto Size(Composed c) {
  return Size<kIndex, Js...>(c.layout());
}

// No offset reaches this; not always the least such number.
template <IsComposedLayout Composed>
constexpr auto Cosize(Composed c) {
  const Int<Composed::Swizzle::kPeriod> period{};
  return CeilDiv(c.offset() + Cosize(c.layout()), period) * period;
}

// A slice keeps its beginning in the inner offset; the outer offset is 0.
template <IsComposedLayout Composed, class Coord>
constexpr auto SliceAndOffset(Composed c, Coord coord) {
  const auto slice = SliceAndOffset(c.layout(), coord);
  const auto layout =
      MakeComposedLayout(typename Composed::Swizzle{}, c.offset() + slice.offset, slice.layout);
  return LayoutAtOffset<std::remove_cvref_t<decltype(layout)>, Int<0>>{layout, {}};
}

template <std::size_t... Is, IsComposedLayout Composed>
constexpr auto Get(Composed c) {
  return TransformLayout(c, [](auto l) constexpr { return Get<Is...>(l); });
}
template <IsComposedLayout Composed, class Tiler>
constexpr auto Composition(Composed c, Tiler tiler) {
  return TransformLayout(c, [&](auto l) constexpr { return Composition(l, tiler); });
}
template <IsComposedLayout Composed, class Tiler>
constexpr auto LogicalDivide(Composed c, Tiler tiler) {
  return TransformLayout(c, [&](auto l) constexpr { return LogicalDivide(l, tiler); });
}
template <IsComposedLayout Composed, class Tiler>
constexpr auto ZippedDivide(Composed c, Tiler tiler) {
  return TransformLayout(c, [&](auto l) constexpr { return ZippedDivide(l, tiler); });
}
template <IsComposedLayout Composed, class Tiler>
constexpr auto TiledDivide(Composed c, Tiler tiler) {
  return TransformLayout(c, [&](auto l) constexpr { return TiledDivide(l, tiler); });
}
template <IsComposedLayout Composed, class Tiler>
constexpr auto FlatDivide(Composed c, Tiler tiler) {
  return TransformLayout(c, [&](auto l) constexpr { return FlatDivide(l, tiler); });
}

}  // namespace weft::layouts
