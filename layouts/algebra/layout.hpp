// Layout: a function from coordinates to offsets, given by a shape and a stride.
//
// For a nested coordinate c, layout(c) = sum over the leaves of c_i * d_i. A coordinate may also be
// flat or one linear index (layouts/algebra/coordinate.hpp), so a layout is at the same time a
// function from [0, size) to offsets; the algebra speaks about that function. Written s:d, as in
// (4, (2, 3)):(2, (1, 8)).
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/algebra/coordinate.hpp"

namespace weft::layouts {

template <class ShapeT, class StrideT>
struct Layout;

namespace detail {
template <class Type>
struct IsLayoutTrait : std::false_type {};
template <class Shape, class Stride>
struct IsLayoutTrait<Layout<Shape, Stride>> : std::true_type {};

template <class Shape, class Stride>
struct RankAndDepth<Layout<Shape, Stride>> : RankAndDepth<Shape> {};
template <class Shape, class Stride>
struct AllStatic<Layout<Shape, Stride>> {
  static constexpr bool kValue = AllStatic<Shape>::kValue && AllStatic<Stride>::kValue;
};
}  // namespace detail

// Type is a Layout.
template <class Type>
concept IsLayout = detail::IsLayoutTrait<std::remove_cvref_t<Type>>::value;

// A layout and the offset at which it begins.
template <class LayoutT, class Offset>
struct LayoutAtOffset {
  LayoutT layout;
  Offset offset;
};

// shape:stride. Make one with MakeLayout. Empty when all its numbers are static.
template <class ShapeT, class StrideT>
struct Layout : detail::Leaf<0, ShapeT>, detail::Leaf<1, StrideT> {
  static_assert(Congruent<ShapeT, StrideT>,
                "layouts: Layout: the stride must be nested like the shape, one number for each "
                "extent");
  using Shape = ShapeT;
  using Stride = StrideT;

  constexpr Layout() = default;
  constexpr Layout(Shape shape, Stride stride)
      : detail::Leaf<0, ShapeT>(shape), detail::Leaf<1, StrideT>(stride) {}

  constexpr Shape shape() const { return detail::LeafValue<0, Shape>(*this); }
  constexpr Stride stride() const { return detail::LeafValue<1, Stride>(*this); }

  // The offset at a coordinate: one linear index, one nested coordinate, or one entry for each
  // mode. With an underscore among the entries: the layout of those modes, beginning at offset 0.
  template <class... Cs>
  constexpr auto operator()(Cs... coord) const {
    if constexpr (sizeof...(Cs) != 1) {
      return (*this)(MakeTuple(coord...));
    } else if constexpr ((HasUnderscore<Cs> && ...)) {
      return Slice(coord..., *this);
    } else {
      return CoordToOffset(coord..., shape(), stride());
    }
  }

  template <class OtherShape, class OtherStride>
  friend constexpr bool operator==(Layout a, const Layout<OtherShape, OtherStride>& b) {
    return MakeTuple(a.shape(), a.stride()) == MakeTuple(b.shape(), b.stride());
  }
};

// The compact layout of a shape, the first mode fastest.
template <class Shape>
  requires Integer<Shape> || IsTuple<Shape>
constexpr auto MakeLayout(Shape shape) {
  return MakeLayout(shape, ColumnMajor{});
}

namespace detail {
template <class Type>
struct IsOrder : std::false_type {};
template <>
struct IsOrder<ColumnMajor> : std::true_type {};
template <>
struct IsOrder<RowMajor> : std::true_type {};
template <std::size_t... Positions>
struct IsOrder<Order<Positions...>> : std::true_type {};

// Plain integers as int32 or int64, at every leaf.
template <class Type>
constexpr auto Normal(Type t) {
  return TransformLeaves(t, [](const auto& x) constexpr { return AsInteger(x); });
}
}  // namespace detail

// shape:stride, or with an order (ColumnMajor{}, RowMajor{}, Order<...>{}) in the place of the
// stride the compact layout in that order.
template <class Shape, class Stride>
  requires Integer<Shape> || IsTuple<Shape>
constexpr auto MakeLayout(Shape shape, Stride stride) {
  const auto s = detail::Normal(shape);
  if constexpr (detail::IsOrder<Stride>::value) {
    const auto d = CompactStrides(s, stride);
    return Layout<std::remove_cvref_t<decltype(s)>, std::remove_cvref_t<decltype(d)>>(s, d);
  } else {
    const auto d = detail::Normal(stride);
    return Layout<std::remove_cvref_t<decltype(s)>, std::remove_cvref_t<decltype(d)>>(s, d);
  }
}

// Static layouts as types: LayoutOf<Nest<Ints<4>, Ints<2, 3>>, Nest<Ints<2>, Ints<1, 8>>>.
template <int... k>
using Ints = decltype(MakeTuple(kInt<k>...));
template <class... Types>
using Nest = decltype(MakeTuple(Types()...));
template <class Shape, class Stride>
using LayoutOf = decltype(MakeLayout(Shape(), Stride()));

// The layouts side by side, one mode each: MakeLayout(2:1, 3:5) is (2, 3):(1, 5).
template <IsLayout LayoutA, IsLayout... More>
constexpr auto MakeLayout(LayoutA a, More... more) {
  return MakeLayout(MakeTuple(a.shape(), more.shape()...), MakeTuple(a.stride(), more.stride()...));
}

// The number of coordinates.
template <IsLayout LayoutT>
constexpr auto Size(LayoutT layout) {
  return Size(layout.shape());
}
template <std::size_t kIndex, std::size_t... Js, IsLayout LayoutT>
constexpr auto Size(LayoutT layout) {
  return Size<kIndex, Js...>(layout.shape());
}

// How far the offsets reach: 1 + the sum over the leaves of (s_i - 1) * |d_i|, which is the largest
// offset plus one where no stride is negative. For shapes of at least one element.
template <IsLayout LayoutT>
constexpr auto Cosize(LayoutT layout) {
  const auto reach =
      Transform(FlattenToTuple(layout.shape()), FlattenToTuple(layout.stride()),
                [](const auto& s, const auto& d) constexpr { return (s - Int<1>{}) * Abs(d); });
  return Fold(reach, Int<1>{}, [](const auto& n, const auto& x) constexpr { return n + x; });
}

// Mode kIndex as a layout; mode J of it, and so on.
template <std::size_t kIndex, std::size_t... Js, IsLayout LayoutT>
constexpr auto Get(LayoutT layout) {
  return MakeLayout(Get<kIndex, Js...>(layout.shape()), Get<kIndex, Js...>(layout.stride()));
}

// Modes i, j, ... as a layout.
template <std::size_t... Is, IsLayout LayoutT>
constexpr auto Select(LayoutT layout) {
  return MakeLayout(Select<Is...>(layout.shape()), Select<Is...>(layout.stride()));
}

// Modes kBegin to E-1 as a layout.
template <std::size_t kBegin, std::size_t kEnd, IsLayout LayoutT>
constexpr auto Take(LayoutT layout) {
  return MakeLayout(Take<kBegin, kEnd>(layout.shape()), Take<kBegin, kEnd>(layout.stride()));
}

// Modes kBegin to E-1 nested into one mode; the offsets stay.
template <std::size_t kBegin, std::size_t kEnd, IsLayout LayoutT>
constexpr auto Group(LayoutT layout) {
  return MakeLayout(Group<kBegin, kEnd>(AsTuple(layout.shape())),
                    Group<kBegin, kEnd>(AsTuple(layout.stride())));
}

// layout with mode kIndex replaced by x.
template <std::size_t kIndex, IsLayout LayoutT, IsLayout OtherLayout>
constexpr auto Replace(LayoutT layout, OtherLayout x) {
  return MakeLayout(Replace<kIndex>(AsTuple(layout.shape()), x.shape()),
                    Replace<kIndex>(AsTuple(layout.stride()), x.stride()));
}

// layout with x as one more mode.
template <IsLayout LayoutT, IsLayout OtherLayout>
constexpr auto Append(LayoutT layout, OtherLayout x) {
  return MakeLayout(Append(layout.shape(), x.shape()), Append(layout.stride(), x.stride()));
}

// Depth 0 or 1, the same leaves.
template <IsLayout LayoutT>
constexpr auto Flatten(LayoutT layout) {
  return MakeLayout(Flatten(layout.shape()), Flatten(layout.stride()));
}

// The modes at which coord has an underscore, in a row, and the offset at which they begin:
// slice.layout(x) + slice.offset is layout at coord with x in the underscores' places.
template <IsLayout LayoutT, class Coord>
constexpr auto SliceAndOffset(LayoutT layout, Coord coord) {
  static_assert(WeaklyCongruent<Coord, typename LayoutT::Shape>,
                "layouts: Slice: the coordinate needs one entry for each mode, each a number, an "
                "underscore, or a tuple that fits the mode");
  const auto sliced = Slice(coord, layout);
  const auto offset = layout(SliceOrigin(coord));
  return LayoutAtOffset<std::remove_cvref_t<decltype(sliced)>,
                        std::remove_cvref_t<decltype(offset)>>{sliced, offset};
}

// The modes at which coord has an underscore as one layout, one mode each.
template <class Coord, IsLayout LayoutT>
constexpr auto Slice(Coord coord, LayoutT layout) {
  static_assert(WeaklyCongruent<Coord, typename LayoutT::Shape>,
                "layouts: Slice: the coordinate needs one entry for each mode, each a number, an "
                "underscore, or a tuple that fits the mode");
  return MakeLayout(Slice(coord, layout.shape()), Slice(coord, layout.stride()));
}

}  // namespace weft::layouts
