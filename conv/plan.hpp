// From a problem to what the kernels are launched with: every check that needs no pointer, the
// kernels' parameters and the grid.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "weft/conv/depthwise_plan.hpp"
#include "weft/conv/facts.hpp"
#include "weft/conv/geometry.hpp"
#include "weft/conv/kernels.hpp"
#include "weft/conv/problem.hpp"
#include "weft/conv/wgmma_plan.hpp"
#include "weft/gemm/launch.hpp"
#include "weft/gemm/tile_model.hpp"
#include "weft/layouts/abseil.hpp"

namespace weft::conv {

using gemm::CpuFacts;
using gemm::GpuFacts;
using gemm::PlanCounts;
using gemm::Prediction;

// The facts of policy PolicyT.
template <class PolicyT>
constexpr ConvFacts FactsOf() {
  using AnyKernel = Kernel<PolicyT, 0>;
  using Checked = CheckedPolicy<PolicyT>;
  using Prologue = typename PolicyT::Prologue;
  using Epilogue = typename PolicyT::Epilogue;
  using Dst = typename PolicyT::DstLayout;
  ConvFacts facts;
  facts.config = PolicyT::config;
  facts.threads = AnyKernel::kThreads;
  facts.blocks_by_registers = AnyKernel::kMinBlocksPerSm;
  facts.shared_bytes = sizeof(typename AnyKernel::SharedStorage);
  facts.hardware = AnyKernel::kRequires;
  facts.searches_copies = Checked::kNhwc;
  facts.src_layout = PolicyT::SrcLayout::kName;
  facts.dst_layout = Dst::kName;
  facts.store.element_bits = Checked::kDstBits;
  facts.source = {.interleave = PolicyT::SrcLayout::kInterleave,
                  .bits = Checked::kSrcBits,
                  .unit_bytes = Checked::kUnitBytes,
                  .unit_channels = Checked::kUnitChannels,
                  .nhwc = Checked::kNhwc,
                  .has_taps = kHasKernel<PolicyT, SourceKind::kTaps>,
                  .converted = kConvertsSource<PolicyT>};
  facts.filter = {.interleave = PolicyT::FilterLayout::kInterleave, .bits = Checked::kFilterBits};
  facts.output = {.interleave = Dst::kInterleave,
                  .channel_run = Dst::kChannelRun,
                  .image_sums = Epilogue::kHasSums};
  facts.prologue = {
      .depends = Prologue::kDepends, .batched = kBatched<Prologue>, .name = Prologue::kName};
  facts.depthwise = Checked::kDepthwise;
  facts.largest_product = Checked::kLargestProduct;
  if constexpr (Checked::kWgmma) {
    facts.wgmma.stage_bytes = AnyKernel::Mainloop::kStageBytes;
    facts.wgmma.row_threads = AnyKernel::Mainloop::Pipeline::kRowThreads;
    facts.wgmma.gathers = Checked::kGathers;
    facts.resident_blocks = PolicyT::config.blocks_per_sm;
  }
  facts.store.activations = Epilogue::kActivations;
  if constexpr (Epilogue::kHasResidual) {
    facts.store.residual_bits = 8 * sizeof(typename Epilogue::ResidualElement);
    using Layout = typename Epilogue::ResidualStage::Layout;
    facts.output.residual_channel_run = [] {
      if constexpr (std::is_same_v<Layout, epilogues::SameAsDst>) {
        return Dst::kChannelRun;
      } else {
        return Layout::kChannelRun;
      }
    }();
  }
  return facts;
}

// A problem that passed every check for one policy, and its launch: all of the parameters but the
// pointers and the values of the epilogue.
struct Geometry {
  Problem problem;
  SourceKind kind = SourceKind::kIm2col;
  PlanCounts counts;
  prologues::BatchExtents batch;
  TapParams taps;       // or ...
  Im2colParams im2col;  // ... these; their SourceParams serve SourceKind::kPointwise
  FilterParams filter;
  PixelMap rows;
  std::int32_t padded_k = 0;  // output channels with those that fill the last dst block
  EnginePlan engine;        // wgmma_sm90, instead of taps, im2col, filter and rows, or beside them
  DepthwisePlan depthwise;  // depthwise, likewise

  arch::Dim3 grid() const { return {static_cast<int>(counts.blocks()), 1, 1}; }
};

// Checks `problem` against a policy. InvalidArgument as for CheckProblem, and where K, C or the
// groups do not fit the layouts; OutOfRange where a 32-bit index of the kernel would overflow.
absl::StatusOr<Geometry> MakeGeometry(const Problem& problem, const ConvFacts& facts);

// What gemm::Dispatch asks of convolutions: plans, which need no kernel.
struct ConvolutionPlanner {
  using Problem = conv::Problem;
  using Facts = ConvFacts;
  using Plan = Geometry;
  static const gemm::TileFacts& TileOf(const Facts& facts) { return facts; }
  // As Convolution::Create. device: null for the CPU.
  static absl::StatusOr<Plan> Make(const Problem& problem, const Facts& facts,
                                   const arch::DeviceLimits* device);
  static Prediction Predict(const Plan& plan, const Facts& facts, const GpuFacts& gpu);
  static Prediction Predict(const Plan& plan, const Facts& facts, const CpuFacts& cpu);
  // One line for people: tile, path, grid, shared memory, layouts.
  static std::string Describe(const Plan& plan, const Facts& facts);
};

// InvalidArgument if the filter was packed for other extents than `wanted`, or if the bank has not
// the filters that the prologue wants (`filters`; 0: any number). field: of the arguments.
absl::Status CheckFilter(const FilterExtents& wanted, const FilterExtents& packed,
                         std::int64_t count, std::int64_t filters, const char* prologue,
                         const char* field = "filter");

// Extents of what a run writes to: a phase's pixels are some of the destination's.
template <class Prologue>
[[gnu::visibility("hidden")]] TensorExtents Destination(const Problem& problem,
                                                        const Prologue& prologue) {
  TensorExtents dst = problem.dst();
  if constexpr (kPerPhase<Prologue>) dst.h = prologue.rows, dst.w = prologue.columns;
  return dst;
}

template <class Output>
[[gnu::visibility("hidden")]] void FillOutput(const Geometry& g, const TensorExtents& destination,
                                              Output* output) {
  output->k = static_cast<std::int32_t>(g.problem.k);
  output->padded_k = g.padded_k;
  output->extents = destination;
}

// What every kernel's parameters have, but for the depthwise ones.
template <class PolicyT, class Params>
[[gnu::visibility("hidden")]] void FillParams(const Geometry& g,
                                              const typename PolicyT::Prologue& prologue,
                                              Params* out_params) {
  Params& params = *out_params;
  using Prologue = typename PolicyT::Prologue;
  auto& s = params.schedule;
  static_cast<typename BatchGrid<Prologue>::Grid::Params&>(s) = BatchGrid<Prologue>::Grid::Make(
      static_cast<std::int32_t>(g.counts.tiles_m), static_cast<std::int32_t>(g.counts.tiles_n));
  if constexpr (kBatched<Prologue>) {
    s.batch_g = gemm::FastDivmod(static_cast<std::int32_t>(g.batch.g));
    s.batch_q = gemm::FastDivmod(static_cast<std::int32_t>(g.batch.q));
    s.batch_p = gemm::FastDivmod(static_cast<std::int32_t>(g.batch.p));
    s.prologue = prologue;
  }
  params.slices = g.counts.slices;
  FillOutput(g, Destination(g.problem, prologue), &params.output);
  if constexpr (kPerPhase<Prologue>) params.output.rows.phase = prologue;
}

// The parameters of policy PolicyT's kernel `kind` for this geometry.
template <class PolicyT, SourceKind kind>
[[gnu::visibility("hidden")]] KernelParams<PolicyT, kind> MakeParams(
    const Geometry& g, const typename PolicyT::Prologue& prologue) {
  KernelParams<PolicyT, kind> params;
  FillParams<PolicyT>(g, prologue, &params);
  SourceParamsFor<kind>& source = params.a;
  if constexpr (kind == SourceKind::kTaps) {
    source = g.taps;
  } else {
    source = g.im2col;
  }
  if constexpr (kConvertsSource<PolicyT>) {
    params.a.channels = static_cast<std::int32_t>(g.problem.c);
    params.a.group_channels = static_cast<std::int32_t>(g.problem.c / g.problem.groups);
  }
  params.b = g.filter;
  static_cast<PixelMap&>(params.output.rows) = g.rows;
  return params;
}

// Of wgmma_sm90, but for the tensor maps.
template <class PolicyT>
[[gnu::visibility("hidden")]] WgmmaParams<PolicyT> MakeWgmmaParams(
    const Geometry& g, const typename PolicyT::Prologue& prologue) {
  WgmmaParams<PolicyT> params;
  FillParams<PolicyT>(g, prologue, &params);
  static_cast<SourceCopies&>(params.a) = g.engine.source;
  static_cast<FilterCopies&>(params.b) = g.engine.filter;
  static_cast<WalkMap&>(params.output.rows) = g.engine.source.rows;
  if constexpr (PolicyT::config.stack > 1) params.output.rows.last_first = g.engine.last_first;
  params.ring = g.engine.ring;
  params.plan = g.engine.plan;
  params.tiles = static_cast<std::int32_t>(g.counts.blocks());
  return params;
}

// Of wgmma_sm90 over NCxHWx<4>, but for the addresses.
template <class PolicyT>
[[gnu::visibility("hidden")]] StripParams<PolicyT> MakeStripParams(
    const Geometry& g, const typename PolicyT::Prologue& prologue) {
  StripParams<PolicyT> params;
  FillParams<PolicyT>(g, prologue, &params);
  static_cast<SourceStrips&>(params.a) = g.engine.source_strips;
  static_cast<FilterParams&>(params.b) = g.filter;
  static_cast<FilterChunks&>(params.b) = g.engine.filter_chunks;
  static_cast<StripRows&>(params.output.rows) = g.engine.source_strips.rows;
  params.ring = g.engine.ring;
  params.plan = g.engine.plan;
  params.tiles = static_cast<std::int32_t>(g.counts.blocks());
  return params;
}

// Of wgmma_sm90 whose operands threads load, but for the addresses.
template <class PolicyT>
GatherParams<PolicyT> MakeGatherParams(const Geometry& g,
                                       const typename PolicyT::Prologue& prologue) {
  GatherParams<PolicyT> params;
  FillParams<PolicyT>(g, prologue, &params);
  params.a = g.im2col;
  params.b = g.filter;
  static_cast<PixelMap&>(params.output.rows) = g.rows;
  params.ring = g.engine.ring;
  params.plan = g.engine.plan;
  params.tiles = static_cast<std::int32_t>(g.counts.blocks());
  return params;
}

// Of a depthwise operator, but for the addresses.
template <class PolicyT>
[[gnu::visibility("hidden")]] DepthwiseParams<PolicyT> MakeDepthwiseParams(const Geometry& g) {
  DepthwiseParams<PolicyT> params;
  params.walk = g.depthwise.walk;
  FillOutput(g, g.problem.dst(), &params.output);
  params.output.rows = g.depthwise.rows;
  return params;
}

}  // namespace weft::conv
