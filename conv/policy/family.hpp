// Families of convolution policies (gemm/policy/family.hpp). Like conv/policy/policy.hpp this
// header includes neither Abseil nor CUDA.
#pragma once

#include <cstddef>
#include <tuple>

#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/gemm/policy/family.hpp"

namespace weft::conv {

using gemm::CheckedFamily;
using gemm::EachWith;
using gemm::Family;
using gemm::PolicyOf;

template <class PolicyT>
class Convolution;
template <class PolicyT>
class DepthwisePointwise;

// A family is no policy: Dispatch chooses among its policies.
template <class... Policies>
struct CheckedPolicy<Family<Policies...>> {
  static_assert(sizeof...(Policies) == static_cast<std::size_t>(-1),
                "weft: Convolution takes one policy; weft::conv::Dispatch<Family> chooses among "
                "those of a family");
  static constexpr bool kValid = false;
};

}  // namespace weft::conv

namespace weft::gemm {

template <class PolicyT>
  requires conv::HasTypes<PolicyT>
struct OperatorKind<PolicyT> {
  using Operator = conv::Convolution<PolicyT>;
  using Checked = conv::CheckedPolicy<PolicyT>;
  using Same = std::tuple<typename PolicyT::Element, typename PolicyT::SrcLayout,
                          typename PolicyT::FilterLayout, typename PolicyT::DstLayout,
                          typename PolicyT::Prologue, typename PolicyT::Epilogue,
                          conv::SourceFunctorOf<PolicyT>>;
  static constexpr const char* kWho = "conv";
  // With filters of int4 the name begins with the filter's format, which implies the source's,
  // unless the source is of 4 bits itself.
  [[gnu::visibility("hidden")]] static constexpr const char* kFrom =
      Checked::kInt4 && !Checked::kInt4Source ? PolicyT::FilterLayout::kName
                                              : PolicyT::SrcLayout::kName;
  [[gnu::visibility("hidden")]] static constexpr const char* kBy =
      Checked::kInt4Products                   ? "_by_s4"
      : Checked::kInt4 && Checked::kInt4Source ? "_by_int4"
                                               : "";
  [[gnu::visibility("hidden")]] static constexpr const char* kTo = PolicyT::DstLayout::kName;
  static constexpr const char* kCMake = "weft_add_operators";
  static constexpr bool kIntegerSums = Checked::kIntegerSums;
};

// A Dispatch of these policies needs weft/conv/depthwise_pointwise.hpp.
template <conv::IsDepthwisePointwise PolicyT>
struct OperatorKind<PolicyT> {
  using Operator = conv::DepthwisePointwise<PolicyT>;
  using Checked = conv::CheckedDepthwisePointwise<PolicyT>;
  using Same = std::tuple<typename PolicyT::Element, typename PolicyT::SrcLayout,
                          typename PolicyT::DstLayout, typename PolicyT::DepthwiseEpilogue,
                          typename PolicyT::Epilogue>;
  static constexpr const char* kWho = "conv";
  [[gnu::visibility("hidden")]] static constexpr const char* kFrom = PolicyT::SrcLayout::kName;
  [[gnu::visibility("hidden")]] static constexpr const char* kBy = "_depthwise_pointwise";
  [[gnu::visibility("hidden")]] static constexpr const char* kTo = PolicyT::DstLayout::kName;
  static constexpr const char* kCMake = "weft_add_operators";
  static constexpr bool kIntegerSums = true;
};

}  // namespace weft::gemm
