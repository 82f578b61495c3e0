// Families of policies: what conv::Dispatch chooses from. Like conv/policy.hpp this header needs
// neither Abseil nor CUDA.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "weft/conv/policy.hpp"

namespace weft::conv {

// Policies that differ in their config only: one operator, several tiles. A type and not a list of
// configs, because nvcc 13 cannot write class-type template arguments into its host code.
template <class... Policies>
struct Family {};

template <class P>
class Convolution;

// Not an operator: Dispatch chooses among a family.
template <class... Policies>
class Convolution<Family<Policies...>> {
  static_assert(sizeof...(Policies) == static_cast<std::size_t>(-1),
                "weft: Convolution takes one policy; weft::conv::Dispatch<Family> chooses among "
                "those of a family");
};

namespace internal {

template <class P, class Q>
inline constexpr bool kSameOperator = std::is_same_v<typename P::Element, typename Q::Element>&&
    std::is_same_v<typename P::SrcLayout, typename Q::SrcLayout>&&
        std::is_same_v<typename P::FilterLayout, typename Q::FilterLayout>&&
            std::is_same_v<typename P::DstLayout, typename Q::DstLayout>&&
                std::is_same_v<typename P::Prologue, typename Q::Prologue>&&
                    std::is_same_v<typename P::Epilogue, typename Q::Epilogue>;

template <class F>
struct FamilyTuple;
template <class... Policies>
struct FamilyTuple<Family<Policies...>> {
  using type = std::tuple<Policies...>;
};

template <class F, int kSize, int kIndex>
struct PolicyAt {
  using Tuple = typename FamilyTuple<F>::type;
  static_assert(std::tuple_size_v<Tuple> == kSize,
                "weft: weft_add_family() was told another number of policies than the family has");
  using type = std::tuple_element_t<kIndex, Tuple>;
};

}  // namespace internal

// Policy kIndex of the kSize policies of F, for weft_add_family().
template <class F, int kSize, int kIndex>
using PolicyOf = typename internal::PolicyAt<F, kSize, kIndex>::type;

// Instantiating this checks a family and each of its policies; each failure is one sentence.
template <class... Policies>
struct CheckedFamily {
  static_assert(sizeof...(Policies) > 0, "weft: a family names at least one policy");
  static_assert((CheckedPolicy<Policies>::kValid && ...));
  template <class P, class... Others>
  static constexpr bool Same(std::tuple<P, Others...>*) {
    return (internal::kSameOperator<P, Others> && ...);
  }
  static_assert(Same(static_cast<std::tuple<Policies...>*>(nullptr)),
                "weft: the policies of a family differ in their config only; types and layouts are "
                "the same");
  static constexpr bool kValid = true;
};

}  // namespace weft::conv
