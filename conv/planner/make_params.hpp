// Makes the parameters of a kernel from a plan, except for addresses, the values of the epilogue
// and what depends on either, which a run adds (conv/convolution.hpp).
#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

#include "weft/conv/kernel/kernels.hpp"
#include "weft/conv/planner/plan.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The alternative of ConvPlan::kernel that PolicyT's kernels are launched with.
template <class PolicyT, class Checked = CheckedPolicy<PolicyT>>
using KernelPlan = std::conditional_t<
    Checked::kDepthwise, DepthwisePlan,
    std::conditional_t<
        Checked::kSlidingWindow, SlidingWindowPlan,
        std::conditional_t<Checked::kGathers, GatherPlan,
                           std::conditional_t<Checked::kWgmma, TmaPlan, MultistagePlan>>>>;

namespace internal {

template <class PolicyT, SourceKind kind, bool kDepthwise = CheckedPolicy<PolicyT>::kDepthwise,
          bool kWgmma = CheckedPolicy<PolicyT>::kWgmma>
struct ParamsFor {
  using type = KernelParams<PolicyT, kind>;
};
template <class PolicyT, SourceKind kind>
struct ParamsFor<PolicyT, kind, true, false> {
  using type = DepthwiseParams<PolicyT>;
};
template <class PolicyT, SourceKind kind>
struct ParamsFor<PolicyT, kind, false, true> {
  using type = typename WgmmaParts<PolicyT>::Params;
};

}  // namespace internal

// The parameters of PolicyT's kernels. kind: the iterator over the source, of a multistage kernel.
template <class PolicyT, SourceKind kind>
using ParamsOf = typename internal::ParamsFor<PolicyT, kind>::type;

// The extents of the tensor that a run writes to. The pixels of a phase (of a transposed
// convolution) are only some of the pixels of that tensor.
template <class Prologue>
[[gnu::visibility("hidden")]] TensorExtents Destination(const Problem& problem,
                                                        const Prologue& prologue) {
  TensorExtents dst = problem.dst();
  if constexpr (kPerPhase<Prologue>) dst.h = prologue.rows, dst.w = prologue.columns;
  return dst;
}

namespace internal {

template <class PolicyT, class Output>
[[gnu::visibility("hidden")]] void FillOutput(const ConvPlan& plan,
                                              const typename PolicyT::Prologue& prologue,
                                              Output* output) {
  const Problem& p = plan.problem;
  output->k = gemm::Int32(p.k);
  output->padded_k = plan.padded_k;
  output->extents = Destination(p, prologue);
  // Depthwise kernels compute the window sums themselves, so that they need none of this.
  if constexpr (PolicyT::Epilogue::kFilterZeroPoint && !CheckedPolicy<PolicyT>::kDepthwise) {
    output->groups = gemm::Int32(p.groups);
    output->group_channels = gemm::Int32(p.k / p.groups);
    output->plane = gemm::Int32(output->extents.h * output->extents.w);
  }
}

template <class Prologue, class Schedule>
[[gnu::visibility("hidden")]] void FillSchedule(const ConvPlan& plan, const Prologue& prologue,
                                                Schedule* schedule) {
  using Grid = typename BatchGrid<Prologue>::Grid;
  static_cast<typename Grid::Params&>(*schedule) =
      Grid::Make(gemm::Int32(plan.counts.tiles_m), gemm::Int32(plan.counts.tiles_n));
  if constexpr (kBatched<Prologue>) {
    schedule->batch_g = gemm::FastDivmod(gemm::Int32(plan.batch.g));
    schedule->batch_q = gemm::FastDivmod(gemm::Int32(plan.batch.q));
    schedule->batch_p = gemm::FastDivmod(gemm::Int32(plan.batch.p));
    schedule->prologue = prologue;
  }
}

// Fill in the operands and the rows of the output, for each kind of plan.
template <SourceKind kind, class Params>
[[gnu::visibility("hidden")]] void FillOperands(const MultistagePlan& plan, Params* params) {
  static_cast<SourceParamsFor<kind>&>(params->a) =
      std::get<static_cast<std::size_t>(kind)>(plan.source);
  params->b = plan.filter;
  static_cast<PixelMap&>(params->output.rows) = plan.pixels;
}
inline void SetLastFirst(const TmaPlan&, Im2colPixelMap*) {}
inline void SetLastFirst(const TmaPlan& plan, PackedRowsPixelMap* rows) {
  rows->last_first = plan.last_first;
}
template <SourceKind, class Params>
[[gnu::visibility("hidden")]] void FillOperands(const TmaPlan& plan, Params* params) {
  static_cast<SourceCopies&>(params->a) = plan.source;
  static_cast<FilterCopies&>(params->b) = plan.filter;
  static_cast<Im2colPixelMap&>(params->output.rows) = plan.source.rows;
  SetLastFirst(plan, &params->output.rows);
}
template <SourceKind, class Params>
[[gnu::visibility("hidden")]] void FillOperands(const SlidingWindowPlan& plan, Params* params) {
  static_cast<SlidingWindowSource&>(params->a) = plan.source;
  static_cast<FilterParams&>(params->b) = plan.filter;
  static_cast<FilterChunks&>(params->b) = plan.filter_chunks;
  static_cast<SlidingWindowRows&>(params->output.rows) = plan.source.rows;
}
template <SourceKind, class Params>
[[gnu::visibility("hidden")]] void FillOperands(const GatherPlan& plan, Params* params) {
  params->a = plan.source;
  params->b = plan.filter;
  static_cast<PixelMap&>(params->output.rows) = plan.pixels;
}

// What only the kernels of wgmma_sm90 have: the ring and a persistent grid.
template <class Params>
[[gnu::visibility("hidden")]] void FillRing(const RingPlan& plan, const PlanCounts& counts,
                                            Params* params) {
  params->ring = plan.ring;
  params->plan = plan.plan;
  params->tiles = gemm::Int32(counts.blocks());
}
template <class Params>
[[gnu::visibility("hidden")]] void FillRing(const MultistagePlan&, const PlanCounts&, Params*) {}

}  // namespace internal

// The parameters of a kernel of PolicyT for a problem that is not empty. kind:
// MultistagePlan::kind() if the plan is one.
template <class PolicyT, SourceKind kind = SourceKind::kIm2col>
[[gnu::visibility("hidden")]] ParamsOf<PolicyT, kind> MakeParams(
    const ConvPlan& plan, const typename PolicyT::Prologue& prologue) {
  using Prologue = typename PolicyT::Prologue;
  ParamsOf<PolicyT, kind> params;
  internal::FillOutput<PolicyT>(plan, prologue, &params.output);
  const auto& own = std::get<KernelPlan<PolicyT>>(plan.kernel);
  if constexpr (CheckedPolicy<PolicyT>::kDepthwise) {
    params.iterator = own.iterator;
    params.output.rows = own.rows;
  } else {
    internal::FillSchedule(plan, prologue, &params.schedule);
    params.k_tiles = plan.counts.k_tiles;
    internal::FillOperands<kind>(own, &params);
    if constexpr (kPerPhase<Prologue>) params.output.rows.phase = prologue;
    if constexpr (kConvertsSource<PolicyT>) {
      params.a.channels = gemm::Int32(plan.problem.c);
      params.a.group_channels = gemm::Int32(plan.problem.c / plan.problem.groups);
    }
    internal::FillRing(own, plan.counts, &params);
  }
  return params;
}

}  // namespace weft::conv
