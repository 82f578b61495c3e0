// Convolution<Policy>: a convolution as an operator, with the types and the tile of its policy.
//
//     using Op = weft::conv::Convolution<MyConv>;  // MyConv: see conv/policy/policy.hpp
//     absl::StatusOr<Op> op = Op::Create(problem);  // every check that needs no pointer
//     op->Run({.src = x, .filter = w, .bias = b, .dst = y}, stream);  // on the GPU
//     op->RunOnCpu({.src = x, .filter = w, .bias = b, .dst = y});     // the same, on the CPU
#pragma once

#include <cstdint>

#include "weft/conv/launch/arguments.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/launch/start.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/gemm/check/refused.hpp"
#include "weft/gemm/launch/planned_operator.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The rest of its members: gemm/launch/planned_operator.hpp.
template <class PolicyT>
class Convolution
    : public gemm::PlannedOperator<Convolution<PolicyT>, ConvolutionPlanner, ArgumentsOf<PolicyT>> {
  using Base = gemm::PlannedOperator<Convolution, ConvolutionPlanner, ArgumentsOf<PolicyT>>;
  using Base::plan_;

 public:
  using Policy = PolicyT;
  using Element = typename PolicyT::Element;
  using Output = typename PolicyT::Epilogue::Output;
  using FilterElement = typename CheckedPolicy<PolicyT>::FilterElement;
  using Filter = typename ArgumentsOf<PolicyT>::Filter;
  using BiasElement = typename ArgumentsOf<PolicyT>::BiasElement;
  using ResidualElement = typename ArgumentsOf<PolicyT>::ResidualElement;
  using Base::problem;

  [[gnu::visibility("hidden")]] static constexpr PolicyImage kImage = ImageOf<PolicyT>();
  static constexpr ConvFacts Facts() { return kImage.facts; }
  // The extents of dst: those of the problem's, or with a MaxPool of its windows.
  TensorExtents dst() const { return plan_.dst(); }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return PolicyT::SrcLayout::Size(problem().src()); }
  std::int64_t dst_size() const { return PolicyT::DstLayout::Size(plan_.dst()); }
  // Bytes of both: half their elements where SrcLayout or DstLayout is a PairedInt4.
  std::int64_t src_bytes() const {
    return weft::internal::BytesOf<typename PolicyT::SrcLayout, Element>(src_size());
  }
  std::int64_t dst_bytes() const {
    return weft::internal::BytesOf<typename PolicyT::DstLayout, Output>(dst_size());
  }

  // The extents of one filter, as PackFilter, PackFilters and PackDepthwiseFilter take them.
  FilterExtents filter_extents() const {
    return PackedExtents(problem(), kImage.facts.IsDepthwise());
  }

  // How many filters the prologue's bank must have; 0: any number.
  std::int64_t filters() const { return PolicyT::Prologue::Filters(plan_.batch); }

  static ConvRun RunOf(const ConvPlan& plan, const ArgumentsOf<PolicyT>& args) {
    return conv::RunOf(plan, args);
  }

 private:
  friend Base;
  template <class>
  friend class gemm::Dispatch;  // which makes the plans

  explicit Convolution(const ConvPlan& plan) : Base(plan) {}
};

template <class PolicyT>
  requires(!CheckedPolicy<PolicyT>::kValid)
class Convolution<PolicyT> : public gemm::RefusedOperator<Convolution<PolicyT>, Problem> {};

}  // namespace weft::conv
