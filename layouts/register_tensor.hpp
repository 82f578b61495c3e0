// Tensors that own registers, and views of the same bytes as elements of another type.
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/layouts/tensor_view.hpp"

namespace weft::layouts {

// Elements that a thread holds: element c is value[layout(c)], 0 at the start. Registers have no
// addresses, so loops over coordinates are to be unrolled.
template <class Type, IsLayout LayoutT>
struct RegisterTensor {
  static_assert(IsStatic<LayoutT>,
                "layouts: RegisterTensor<T, Layout>: a thread's registers are numbered at compile "
                "time, so all numbers of the layout are static: Int<4>, kInt<4>");
  using Element = Type;
  using Layout = LayoutT;
  static constexpr int kRegisters = static_cast<int>(Cosize(LayoutT()));

  Type value[kRegisters] = {};

  static constexpr LayoutT layout() { return {}; }
  static constexpr auto shape() { return LayoutT().shape(); }

  // As of a TensorView.
  template <class... Cs>
  constexpr Type& operator()(Cs... coord) {
    return value[LayoutT()(coord...)];
  }
  template <class... Cs>
  constexpr const Type& operator()(Cs... coord) const {
    return value[LayoutT()(coord...)];
  }
  template <Integer Index>
  constexpr Type& operator[](Index index) {
    return value[LayoutT()(index)];
  }
  template <Integer Index>
  constexpr const Type& operator[](Index index) const {
    return value[LayoutT()(index)];
  }

  constexpr void Fill(Type x) {
    for (Type& v : value) v = x;
  }
};

namespace detail {
template <class Type>
struct IsRegisterTensorTrait : std::false_type {};
template <class Type, class LayoutT>
struct IsRegisterTensorTrait<RegisterTensor<Type, LayoutT>> : std::true_type {};
}  // namespace detail

// Type is a RegisterTensor.
template <class Type>
concept IsRegisterTensor = detail::IsRegisterTensorTrait<std::remove_cvref_t<Type>>::value;

template <class Type, class LayoutT>
constexpr auto Size(const RegisterTensor<Type, LayoutT>&) {
  return Size(LayoutT());
}

namespace detail {

// Whether mode s:d, or one of its modes, has stride 1 and a multiple of kRatio elements.
template <int kRatio, class Shape, class Stride>
constexpr bool HasAdjacent(Shape shape, Stride stride) {
  if constexpr (IsTuple<Shape>) {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return (HasAdjacent<kRatio>(Get<Is>(shape), Get<Is>(stride)) || ...);
    }(std::make_index_sequence<kTupleSize<Shape>>{});
  } else if constexpr (IsInt<Stride, 1>) {
    if constexpr (StaticInteger<Shape>) {
      return Shape::value % kRatio == 0;
    } else {
      return true;  // the caller's duty
    }
  } else {
    return false;
  }
}

// The mode in elements of kUp times the size, or of 1 / kDown of it.
template <int kUp, int kDown, class Shape, class Stride>
constexpr auto RecastMode(Shape shape, Stride stride) {
  if constexpr (IsTuple<Shape>) {
    return [&]<std::size_t... Is>(std::index_sequence<Is...>) constexpr {
      return MakeLayout(RecastMode<kUp, kDown>(Get<Is>(shape), Get<Is>(stride))...);
    }(std::make_index_sequence<kTupleSize<Shape>>{});
  } else if constexpr (IsInt<Stride, 1>) {
    return MakeLayout(shape * Int<kDown>{} / Int<kUp>{}, stride);
  } else {
    if constexpr (StaticInteger<Stride> && !IsInt<Shape, 1>) {
      static_assert(Stride::value % kUp == 0,
                    "layouts: Recast to a larger type: every stride but that of neighbouring "
                    "elements must be a multiple of the larger type's size");
    }
    return MakeLayout(shape, stride * Int<kDown>{} / Int<kUp>{});
  }
}

}  // namespace detail

// The layout of the same bytes as elements of To instead of From: the mode of neighbouring elements
// (stride 1) gets shorter or longer, and the other strides with it. Run-time numbers must divide.
template <class To, class From, IsLayout LayoutT>
constexpr auto RecastLayout(LayoutT layout) {
  constexpr int kUp = sizeof(To) > sizeof(From) ? sizeof(To) / sizeof(From) : 1;
  constexpr int kDown = sizeof(From) > sizeof(To) ? sizeof(From) / sizeof(To) : 1;
  static_assert(kUp * sizeof(From) == kDown * sizeof(To),
                "layouts: Recast: the size of one type must be a multiple of the other's");
  if constexpr (kUp == 1 && kDown == 1) {
    return layout;
  } else {
    static_assert(
        detail::HasAdjacent<kUp>(typename LayoutT::Shape(), typename LayoutT::Stride()),
        "layouts: Recast: a mode of the layout must have stride 1, known at compile time, "
        "and whole elements of the larger type");
    return detail::RecastMode<kUp, kDown>(layout.shape(), layout.stride());
  }
}
template <class To, class From, int kBits, int kBase, int kShift, class Offset, class LayoutT>
constexpr auto RecastLayout(ComposedLayout<Swizzle<kBits, kBase, kShift>, Offset, LayoutT> c) {
  constexpr int kUp = sizeof(To) > sizeof(From) ? sizeof(To) / sizeof(From) : 1;
  constexpr int kDown = sizeof(From) > sizeof(To) ? sizeof(From) / sizeof(To) : 1;
  constexpr int kPlaces = [] {  // of the swizzle, to the left
    int places = 0;
    for (int x = kDown; x > 1; x /= 2) ++places;
    for (int x = kUp; x > 1; x /= 2) --places;
    return places;
  }();
  static_assert(kBase + kPlaces >= 0,
                "layouts: Recast of a swizzled layout: the swizzle must keep the bytes of the "
                "larger type together");
  return MakeComposedLayout(Swizzle<kBits, kBase + kPlaces, kShift>{},
                            c.offset() * Int<kDown>{} / Int<kUp>{},
                            RecastLayout<To, From>(c.layout()));
}

// The view's bytes as elements of To. Its data must be aligned to To.
template <class To, class From, class LayoutT>
constexpr auto Recast(TensorView<From*, LayoutT> view) {
  using Type = std::conditional_t<std::is_const_v<From>, const To, To>;
  return MakeTensorView(reinterpret_cast<Type*>(view.data()),
                        RecastLayout<To, From>(view.layout()));
}

// The registers' bytes as elements of To, lowest first: a copy, which costs nothing.
template <class To, class From, class LayoutT>
constexpr auto Recast(const RegisterTensor<From, LayoutT>& tensor) {
  RegisterTensor<To, decltype(RecastLayout<To, From>(LayoutT()))> result;
  static_assert(sizeof(result.value) == sizeof(tensor.value),
                "layouts: Recast of a RegisterTensor: its registers must be whole elements of the "
                "larger type");
  __builtin_memcpy(result.value, tensor.value, sizeof(result.value));
  return result;
}

}  // namespace weft::layouts
