// Families of convolutions (gemm/family.hpp). Like conv/policy.hpp this header needs neither Abseil
// nor CUDA.
#pragma once

#include <cstddef>
#include <tuple>

#include "weft/conv/depthwise_pointwise_policy.hpp"
#include "weft/conv/policy.hpp"
#include "weft/gemm/family.hpp"

namespace weft::conv {

using gemm::CheckedFamily;
using gemm::Family;
using gemm::PolicyOf;

template <class P>
class Convolution;
template <class P>
class DepthwisePointwise;

// Not an operator: Dispatch chooses among a family.
template <class... Policies>
class Convolution<Family<Policies...>> {
  static_assert(sizeof...(Policies) == static_cast<std::size_t>(-1),
                "weft: Convolution takes one policy; weft::conv::Dispatch<Family> chooses among "
                "those of a family");
};

}  // namespace weft::conv

namespace weft::gemm {

template <class P>
requires conv::HasTypes<P>
struct OperatorKind<P> {
  using Operator = conv::Convolution<P>;
  using Checked = conv::CheckedPolicy<P>;
  using Same = std::tuple<typename P::Element, typename P::SrcLayout, typename P::FilterLayout,
                          typename P::DstLayout, typename P::Prologue, typename P::Epilogue,
                          conv::SourceFunctorOf<P>>;
  static constexpr const char* kWho = "conv";
  // Filters of int4 name the source's layout as well, unless that is of 4 bits itself.
  static constexpr const char* kFrom =
      Checked::kInt4 && !Checked::kInt4Source ? P::FilterLayout::kName : P::SrcLayout::kName;
  static constexpr const char* kBy = Checked::kInt4Products                   ? "_by_s4"
                                     : Checked::kInt4 && Checked::kInt4Source ? "_by_int4"
                                                                              : "";
  static constexpr const char* kTo = P::DstLayout::kName;
  static constexpr const char* kCMake = "weft_add_operators";
};

// Include weft/conv/depthwise_pointwise.hpp for a Dispatch of these.
template <conv::IsDepthwisePointwise P>
struct OperatorKind<P> {
  using Operator = conv::DepthwisePointwise<P>;
  using Checked = conv::CheckedDepthwisePointwise<P>;
  using Same = std::tuple<typename P::Element, typename P::SrcLayout, typename P::DstLayout,
                          typename P::DepthwiseEpilogue, typename P::Epilogue>;
  static constexpr const char* kWho = "conv";
  static constexpr const char* kFrom = P::SrcLayout::kName;
  static constexpr const char* kBy = "_depthwise_pointwise";
  static constexpr const char* kTo = P::DstLayout::kName;
  static constexpr const char* kCMake = "weft_add_operators";
};

}  // namespace weft::gemm
