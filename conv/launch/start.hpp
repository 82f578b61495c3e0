// Starts a convolution: checks the arguments of a run, makes the kernel's parameters from them and
// from the plan, and hands these to a back end. Parameters are made here and nowhere else, and know
// nothing of the tile, so that the policies of a family share these functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <variant>

#include "weft/conv/kernel/kernels.hpp"
#include "weft/conv/launch/arguments.hpp"
#include "weft/conv/launch/check_arguments.hpp"
#include "weft/conv/planner/plan.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// Set the addresses that an epilogue with a SourceZeroPoint stage reads, and none without.
template <bool kPaddingIsFilled>
[[gnu::visibility("hidden")]] void FillCorrection(
    const SourceCorrection&, gemm::SourceZeroPointParams<false, kPaddingIsFilled>*) {}
inline void FillCorrection(const SourceCorrection& table,
                           gemm::SourceZeroPointParams<true, true>* output) {
  output->correction = table.corrections();
}
inline void FillCorrection(const SourceCorrection& table,
                           gemm::SourceZeroPointParams<true, false>* output) {
  output->correction = table.corrections();
  output->edges = table.edges();
  output->edge_rows = table.edge_rows();
  output->edge_columns = table.edge_columns();
}

namespace internal {

// The same for a FilterZeroPoint stage. Depthwise kernels compute the sums of windows themselves.
// dst: the destination's extents.
template <class Arguments, bool kInSums>
[[gnu::visibility("hidden")]] void FillFilterZeros(const Problem&, const TensorExtents&,
                                                   const Arguments&,
                                                   gemm::FilterZeroPointParams<false, kInSums>*) {}
template <class Arguments>
[[gnu::visibility("hidden")]] void FillFilterZeros(
    const Problem&, const TensorExtents&, const Arguments& args,
    gemm::FilterZeroPointParams<true, true>* output) {
  output->filter_zero_point = args.filter_zero_point;
}
template <class Arguments>
[[gnu::visibility("hidden")]] void FillFilterZeros(
    const Problem& problem, const TensorExtents& dst, const Arguments& args,
    gemm::FilterZeroPointParams<true, false>* output) {
  output->filter_zero_point = args.filter_zero_point;
  output->window_sums = args.window_sums;
  output->groups = gemm::Int32(problem.groups);
  output->group_channels = gemm::Int32(problem.k / problem.groups);
  output->plane = gemm::Int32(dst.h * dst.w);
}

// What is added to rows that are the pixels of a phase.
template <class Prologue, class Rows>
[[gnu::visibility("hidden")]] void FillPhase(const Prologue&, Rows*) {}
template <class Rows>
[[gnu::visibility("hidden")]] void FillPhase(const prologues::PerPhase& phase, Rows* rows) {
  rows->phase = phase;
}

template <class Arguments, class Output>
[[gnu::visibility("hidden")]] void FillOutput(const ConvPlan& plan, const Arguments& args,
                                              Output* output) {
  output->k = gemm::Int32(plan.problem.k);
  output->padded_k = plan.padded_k;
  output->extents = Destination(plan.problem, args.prologue);
  gemm::FillOutput(args, args.dst, output);
  FillCorrection(args.source_correction, output);
  FillFilterZeros(plan.problem, output->extents, args, output);
  FillPhase(args.prologue, &output->rows);
}

template <class Prologue>
[[gnu::visibility("hidden")]] void FillSchedule(const ConvPlan& plan, const Prologue& prologue,
                                                typename BatchGrid<Prologue>::Params* schedule) {
  using Grid = typename BatchGrid<Prologue>::Grid;
  static_cast<typename Grid::Params&>(*schedule) =
      Grid::Make(gemm::Int32(plan.counts.tiles_m), gemm::Int32(plan.counts.tiles_n));
  if constexpr (kBatched<Prologue>) {
    schedule->batch_g = gemm::FastDivmod(gemm::Int32(plan.batch.g));
    schedule->batch_q = gemm::FastDivmod(gemm::Int32(plan.batch.q));
    schedule->batch_p = gemm::FastDivmod(gemm::Int32(plan.batch.p));
    std::construct_at(&schedule->prologue, prologue);
  }
}

// The source of a multistage kernel: its iterator's parameters, and what a source that is converted
// on its way to shared memory has besides.
template <class Iterator>
[[gnu::visibility("hidden")]] void FillSource(const Problem&, const MultistagePlan& plan,
                                              const NoSourceFunctor&,
                                              ConvertedParams<Iterator, NoSourceFunctor>* source) {
  static_cast<Iterator&>(*source) = std::get<Iterator>(plan.source);
}
template <class Iterator, class Functor>
[[gnu::visibility("hidden")]] void FillSource(const Problem& problem, const MultistagePlan& plan,
                                              const Functor& functor,
                                              ConvertedParams<Iterator, Functor>* source) {
  static_cast<Iterator&>(*source) = std::get<Iterator>(plan.source);
  std::construct_at(&source->functor, functor);
  source->channels = gemm::Int32(problem.c);
  source->group_channels = gemm::Int32(problem.c / problem.groups);
}

// What all kernels have that multiply matrices.
template <class Arguments, class Params>
[[gnu::visibility("hidden")]] void FillProduct(const ConvPlan& plan, const Arguments& args,
                                               Params* params) {
  FillSchedule(plan, args.prologue, &params->schedule);
  params->k_tiles = plan.counts.k_tiles;
  FillOutput(plan, args, &params->output);
}

// What all kernels of wgmma_sm90 have. early: how many k tiles of the filter may be fetched before
// earlier kernels have ended.
template <class Arguments, class Params>
[[gnu::visibility("hidden")]] void FillRing(const ConvPlan& plan, const RingPlan& own,
                                            const Arguments& args, std::int32_t early,
                                            Params* params, gemm::Launch* launch) {
  params->ring = own.ring;
  params->plan = own.plan;
  params->tiles = gemm::Int32(plan.counts.blocks());
  if (own.ring.b_stays) launch->blocks_multiple = static_cast<int>(plan.counts.tiles_n);
  if (args.filter_is_constant) {
    params->early = early;
    launch->attributes.constant[0] = {args.filter.data(),
                                      static_cast<std::size_t>(args.filter.bytes())};
  }
}

// Padding of a source with a zero point, which a PaddingTransform writes.
inline void FillPadding(const Problem&, const TmaPlan&, const SourceCorrection&,
                        WithPadding<false>*) {}
inline void FillPadding(const Problem& problem, const TmaPlan& plan, const SourceCorrection& table,
                        WithPadding<true>* params) {
  if (table.edge_rows() != nullptr) params->padding = PaddingOf(problem, plan, table.zero_point());
}

// Rows of the output of a TMA kernel, without or with packed output rows.
inline void FillRows(const TmaPlan& plan, Im2colPixelMap* rows) {
  *rows = plan.pixels;
}
inline void FillRows(const TmaPlan& plan, PackedRowsPixelMap* rows) {
  static_cast<Im2colPixelMap&>(*rows) = plan.pixels;
  rows->last_first = plan.last_first;
}

}  // namespace internal

// Make *params for a problem that is not empty and arguments that were checked, and add to *launch
// what the kind of kernel asks of it. own: the plan's part for that kind. make: the back end's.
// Internal if CUDA refuses a tensor map.

template <class Arguments, class Params>
[[gnu::visibility("hidden")]] absl::Status MakeParams(const ConvPlan& plan,
                                                      const MultistagePlan& own,
                                                      const Arguments& args, gemm::MakeTensorMap,
                                                      Params* params, gemm::Launch* launch) {
  internal::FillSource(plan.problem, own, args.source_functor, &params->a);
  params->a.src = args.src;
  params->b = own.filter;
  params->b.filter = args.filter.data();
  static_cast<PixelMap&>(params->output.rows) = own.pixels;
  internal::FillProduct(plan, args, params);
  launch->kernel = static_cast<int>(own.kind());
  return absl::OkStatus();
}

template <class Arguments, class Params>
[[gnu::visibility("hidden")]] absl::Status MakeParams(const ConvPlan& plan, const TmaPlan& own,
                                                      const Arguments& args,
                                                      gemm::MakeTensorMap make, Params* params,
                                                      gemm::Launch* launch) {
  static_cast<SourceCopies&>(params->a) = own.source;
  static_cast<FilterCopies&>(params->b) = own.filter;
  if (absl::Status s = gemm::MakeMap("conv", make, own.source_spec, args.src, &params->a.map);
      !s.ok()) {
    return s;
  }
  arch::TensorMapSpec filters = own.filter_spec;
  filters.dim[filters.rank - 1] *= static_cast<std::uint32_t>(args.filter.count());
  if (absl::Status s = gemm::MakeMap("conv", make, filters, args.filter.data(), &params->b.map);
      !s.ok()) {
    return s;
  }
  internal::FillRows(own, &params->output.rows);
  internal::FillProduct(plan, args, params);
  internal::FillPadding(plan.problem, own, args.source_correction, params);
  // More would delay the source in kernels whose blocks cannot share a multiprocessor.
  constexpr std::int32_t kEarly = 2;
  internal::FillRing(plan, own, args, (std::min)(kEarly, params->k_tiles), params, launch);
  return absl::OkStatus();
}

template <class Arguments, class Params>
[[gnu::visibility("hidden")]] absl::Status MakeParams(const ConvPlan& plan,
                                                      const SlidingWindowPlan& own,
                                                      const Arguments& args,
                                                      gemm::MakeTensorMap make, Params* params,
                                                      gemm::Launch* launch) {
  static_cast<SlidingWindowSource&>(params->a) = own.source;
  params->a.src = args.src;
  static_cast<FilterParams&>(params->b) = own.filter;
  static_cast<FilterChunks&>(params->b) = own.filter_chunks;
  params->b.filter = args.filter.data();
  static_cast<SlidingWindowRows&>(params->output.rows) = own.source.rows;
  internal::FillProduct(plan, args, params);
  internal::FillRing(plan, own, args, 1, params, launch);
  const auto address = reinterpret_cast<std::uintptr_t>(params->a.src);
  if (params->a.places > 0 && address % 16 == 0) {
    if (absl::Status s =
            gemm::MakeMap("conv", make, own.source_spec, params->a.src, &params->a.map);
        !s.ok()) {
      return s;
    }
    params->ring.tma_tiles = params->tiles;
  }
  const std::uintptr_t widths = address | params->a.widest;
  params->a.widest = static_cast<std::int32_t>(widths & -widths);
  return absl::OkStatus();
}

template <class Arguments, class Params>
[[gnu::visibility("hidden")]] absl::Status MakeParams(const ConvPlan& plan, const GatherPlan& own,
                                                      const Arguments& args, gemm::MakeTensorMap,
                                                      Params* params, gemm::Launch* launch) {
  params->a = own.source;
  params->a.src = args.src;
  params->b = own.filter;
  params->b.filter = args.filter.data();
  static_cast<PixelMap&>(params->output.rows) = own.pixels;
  internal::FillProduct(plan, args, params);
  internal::FillRing(plan, own, args, 0, params, launch);
  return absl::OkStatus();
}

template <class Arguments, class Params>
[[gnu::visibility("hidden")]] absl::Status MakeParams(const ConvPlan& plan,
                                                      const DepthwisePlan& own,
                                                      const Arguments& args, gemm::MakeTensorMap,
                                                      Params* params, gemm::Launch* launch) {
  params->iterator = own.iterator;
  params->iterator.src = args.src;
  params->iterator.filter = args.filter.data();
  params->output.rows = own.rows;
  params->output.rows.run = PixelRun(own.rows.q, args.dst);
  internal::FillOutput(plan, args, &params->output);
  launch->kernel = own.kernel;
  return absl::OkStatus();
}

// The alternative of ConvPlan::kernel that PolicyT's kernels are launched with.
template <class PolicyT, class Checked = CheckedPolicy<PolicyT>>
using KernelPlan = std::conditional_t<
    Checked::kDepthwise, DepthwisePlan,
    std::conditional_t<
        Checked::kSlidingWindow, SlidingWindowPlan,
        std::conditional_t<Checked::kGathers, GatherPlan,
                           std::conditional_t<Checked::kWgmma, TmaPlan, MultistagePlan>>>>;

namespace internal {

// Which of a policy's types of parameters a plan's kernel has.
template <class Own>
[[gnu::visibility("hidden")]] int ParamsOf(const Own&) {
  return 0;
}
inline int ParamsOf(const MultistagePlan& own) {
  return static_cast<int>(own.kind());
}

}  // namespace internal

// What starts a policy's kernels. It knows nothing of the tile but its facts, so that it is compiled
// once for many tiles of a family. Own: the policy's KernelPlan. Params: the parameters of the
// policy's kernels, of a multistage kernel one type for each SourceKind.
template <class Arguments, class DstLayout, class Own, class... Params>
class Starter {
 public:
  // src_bytes: the source's, in SrcLayout. run: BackEnd::Run<PolicyT>, of gemm::GpuBackEnd or
  // gemm::CpuBackEnd.
  template <class BackEnd>
  [[gnu::visibility("hidden")]] static absl::Status Start(const ConvPlan& plan,
                                                          const ConvFacts& facts,
                                                          std::int64_t src_bytes,
                                                          const Arguments& args, const BackEnd& on,
                                                          gemm::RunFunction<BackEnd> run) {
    if (absl::Status s = CheckArguments<DstLayout>(plan, facts, src_bytes, args); !s.ok()) return s;
    if (plan.problem.IsEmpty()) return absl::OkStatus();
    using StartFunction = absl::Status(const ConvPlan&, const ConvFacts&, const Arguments&,
                                       const BackEnd&, gemm::RunFunction<BackEnd>);
    constexpr StartFunction* kStart[] = {&StartWith<Params, BackEnd>...};
    return kStart[internal::ParamsOf(std::get<Own>(plan.kernel))](plan, facts, args, on, run);
  }

 private:
  template <class ParamsT, class BackEnd>
  static absl::Status StartWith(const ConvPlan& plan, const ConvFacts& facts, const Arguments& args,
                                const BackEnd& on, gemm::RunFunction<BackEnd> run) {
    ParamsT params;
    gemm::Launch launch = {0, &params, plan.grid()};
    if (absl::Status s =
            MakeParams(plan, std::get<Own>(plan.kernel), args, BackEnd::kMakeMap, &params, &launch);
        !s.ok()) {
      return s;
    }
    return (on.*run)("conv", facts, launch);
  }
};

namespace internal {

template <class Arguments, class PolicyT, class Own = KernelPlan<PolicyT>>
struct StarterOf {  // wgmma_sm90
  using type =
      Starter<Arguments, typename PolicyT::DstLayout, Own, typename WgmmaSpecFor<PolicyT>::Params>;
};
template <class Arguments, class PolicyT>
struct StarterOf<Arguments, PolicyT, DepthwisePlan> {
  using type = Starter<Arguments, typename PolicyT::DstLayout, DepthwisePlan,
                       DepthwiseParams<typename PolicyT::Epilogue>>;
};
template <class Arguments, class PolicyT>
struct StarterOf<Arguments, PolicyT, MultistagePlan> {
  using type =
      Starter<Arguments, typename PolicyT::DstLayout, MultistagePlan,
              KernelParams<PolicyT, SourceKind::kPointwise>,
              KernelParams<PolicyT, SourceKind::kTaps>, KernelParams<PolicyT, SourceKind::kIm2col>>;
};

}  // namespace internal

// The Starter of PolicyT.
template <class Arguments, class PolicyT>
using StarterOf = typename internal::StarterOf<Arguments, PolicyT>::type;

}  // namespace weft::conv
