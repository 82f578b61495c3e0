// TensorView: a pointer (or any random-access iterator) and a layout: elements addressed by
// coordinate. It owns nothing.
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/algebra.hpp"

namespace weft::layouts {

// Element c is data[layout(c)].
template <class Iterator, class LayoutT>
struct TensorView : detail::Leaf<0, Iterator>, detail::Leaf<1, LayoutT> {
  static_assert(IsLayout<LayoutT> || IsComposedLayout<LayoutT>,
                "layouts: TensorView<Iterator, Layout> needs a Layout or a ComposedLayout");

  constexpr TensorView() = default;
  constexpr TensorView(Iterator data, LayoutT layout)
      : detail::Leaf<0, Iterator>(data), detail::Leaf<1, LayoutT>(layout) {}

  constexpr Iterator data() const { return detail::LeafValue<0, Iterator>(*this); }
  constexpr LayoutT layout() const { return detail::LeafValue<1, LayoutT>(*this); }
  constexpr auto shape() const { return layout().shape(); }

  // The element at a coordinate (one linear index, one nested coordinate, or one entry per mode),
  // as a reference. With an underscore among the entries: the view of those modes, one mode each.
  template <class... Cs>
  constexpr decltype(auto) operator()(Cs... coord) const {
    if constexpr (sizeof...(Cs) != 1) {
      return (*this)(MakeTuple(coord...));
    } else if constexpr ((HasUnderscore<Cs> && ...)) {
      const auto slice = SliceAndOffset(layout(), coord...);
      using Sliced = std::remove_cvref_t<decltype(slice.layout)>;
      return TensorView<Iterator, Sliced>(data() + slice.offset, slice.layout);
    } else {
      return data()[layout()(coord...)];
    }
  }

  // The element at a linear index, the first mode fastest.
  template <Integer Index>
  constexpr decltype(auto) operator[](Index index) const {
    return data()[layout()(index)];
  }
};

template <class Iterator, class LayoutT>
constexpr auto MakeTensorView(Iterator data, LayoutT layout) {
  return TensorView<Iterator, LayoutT>(data, layout);
}

namespace detail {
template <class Type>
struct IsTensorViewTrait : std::false_type {};
template <class Iterator, class LayoutT>
struct IsTensorViewTrait<TensorView<Iterator, LayoutT>> : std::true_type {};
template <class Iterator, class LayoutT>
struct RankAndDepth<TensorView<Iterator, LayoutT>> : RankAndDepth<LayoutT> {};
}  // namespace detail

// Type is a TensorView.
template <class Type>
concept IsTensorView = detail::IsTensorViewTrait<std::remove_cvref_t<Type>>::value;

template <IsTensorView View>
constexpr auto Size(View view) {
  return Size(view.layout());
}
template <std::size_t kIndex, std::size_t... Js, IsTensorView View>
constexpr auto Size(View view) {
  return Size<kIndex, Js...>(view.layout());
}

// The elements in the order that `tiler` gives them: the same data with Composition(layout, tiler).
template <IsTensorView View, class Tiler>
constexpr auto Composition(View view, Tiler tiler) {
  return MakeTensorView(view.data(), Composition(view.layout(), tiler));
}

// The view split into tiles, as for layouts (layouts/algebra/divide.hpp).
template <IsTensorView View, class Tiler>
constexpr auto LogicalDivide(View view, Tiler tiler) {
  return MakeTensorView(view.data(), LogicalDivide(view.layout(), tiler));
}
template <IsTensorView View, class Tiler>
constexpr auto ZippedDivide(View view, Tiler tiler) {
  return MakeTensorView(view.data(), ZippedDivide(view.layout(), tiler));
}
template <IsTensorView View, class Tiler>
constexpr auto TiledDivide(View view, Tiler tiler) {
  return MakeTensorView(view.data(), TiledDivide(view.layout(), tiler));
}

}  // namespace weft::layouts
