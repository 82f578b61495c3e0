// Convolution<Policy>: a convolution as an operator, with the types and the tile of its policy.
//
//     using Op = weft::conv::Convolution<MyConv>;  // MyConv: see conv/policy/policy.hpp
//     absl::StatusOr<Op> op = Op::Create(problem);  // every check that needs no pointer
//     op->Run({.src = x, .filter = w, .bias = b, .dst = y}, stream);  // on the GPU
//     op->RunOnCpu({.src = x, .filter = w, .bias = b, .dst = y});     // the same, on the CPU
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "weft/conv/planner/make_params.hpp"
#include "weft/conv/planner/plan.hpp"
#include "weft/conv/planner/policy_facts.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/check/typed_pointer.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/packed_filter.hpp"

namespace weft::conv {

// The tensors and numbers of one run, a Convolution's Arguments. Addresses are GPU addresses for
// Run and host addresses for RunOnCpu. No tensor may overlap dst, except a residual that has dst's
// layout, address and element size. A number that no stage of the epilogue reads keeps its default.
// Policies that differ only in their config share this type.
template <class Element, class Filter, class Epilogue, class SourceFunctor = NoSourceFunctor>
struct ConvolutionArguments {
  using BiasElement = typename Epilogue::BiasElement;
  using ResidualElement = typename Epilogue::ResidualElement;

  gemm::SourcePointer<Element> src = nullptr;  // problem.src() in SrcLayout; config.alignment.src
  Filter filter;  // problem.filter(), or a bank of them; 16-byte aligned
  gemm::BiasPointer<BiasElement> bias = nullptr;  // problem.k values, with a Bias or SumBias stage
  // problem.dst(), with a Residual stage only; 4-byte aligned.
  gemm::ResidualPointer<ResidualElement> residual = nullptr;
  gemm::OutputPointer<typename Epilogue::Output> dst = nullptr;  // problem.dst() in DstLayout
  float alpha = 1.0f;  // scale of the accumulator, the same for every channel
  // Or problem.k scales, one for each output channel.
  gemm::NumbersPointer<float> channel_alpha = nullptr;
  float beta = 1.0f;          // scale of the bias
  float gamma = 1.0f;         // scale of the residual
  float output_scale = 0.0f;  // with an OutputScale stage: the real value of a step of dst
  float zero_point = 0.0f;    // added before the conversion to an 8-bit type
  SourceCorrection source_correction{};  // with a SourceZeroPoint stage: MakeSourceCorrection's
  // With a FilterZeroPoint stage: problem.k values, one for each output channel, and, unless it is
  // depthwise, the sums [n][groups][p][q] that a WindowSums operator (ready_made.hpp) makes of the
  // source.
  gemm::NumbersPointer<std::int32_t> filter_zero_point = nullptr;
  gemm::NumbersPointer<std::int32_t> window_sums = nullptr;
  // True promises that no earlier kernel of the stream writes the filter, unless it ended before
  // the last launch: a wgmma_sm90 kernel then fetches the filter's first k tiles while earlier
  // kernels run.
  bool filter_is_constant = false;
  Epilogue epilogue{};                   // run-time values of the activations, if they have any
  typename Filter::Prologue prologue{};  // the same of the prologue
  SourceFunctor source_functor{};        // the same of the policy's SourceFunctor
};

// Sets the addresses that an epilogue with a SourceZeroPoint stage reads.
template <class Output>
void FillCorrection(const SourceCorrection& table, Output* output) {
  output->correction = table.corrections();
  if constexpr (!Output::Rows::kPaddingIsFilled) {
    output->edges = table.edges();
    output->edge_rows = table.edge_rows();
    output->edge_columns = table.edge_columns();
  }
}

// An immutable operator for one problem. It is cheap to copy, safe to share between threads, holds
// no memory of its own and needs no workspace.
template <class PolicyT>
class Convolution {
  static_assert(CheckedPolicy<PolicyT>::kValid);
  using Epilogue = typename PolicyT::Epilogue;
  using Prologue = typename PolicyT::Prologue;

 public:
  using Problem = conv::Problem;
  using Planner = ConvolutionPlanner;
  using Element = typename PolicyT::Element;
  using Output = typename Epilogue::Output;
  using FilterElement = typename CheckedPolicy<PolicyT>::FilterElement;
  using Filter = PackedFilter<typename PolicyT::FilterLayout, FilterElement, Prologue>;
  using Arguments =
      ConvolutionArguments<SourceElement<PolicyT>, Filter, Epilogue, SourceFunctorOf<PolicyT>>;
  using BiasElement = typename Arguments::BiasElement;
  using ResidualElement = typename Arguments::ResidualElement;

  static constexpr ConvFacts Facts() { return FactsOf<PolicyT>(); }
  static constexpr ConvFacts PlanFacts() { return Facts(); }  // what Planner takes

  // InvalidArgument or OutOfRange, with a message that names the field, its value and what would be
  // accepted. Where dst has no elements (n, k, h or w is 0), runs do nothing.
  static absl::StatusOr<Convolution> Create(const Problem& problem) {
    return Planned(Planner::Make(problem, FactsOf<PolicyT>(), nullptr));
  }

  // The same, and FailedPrecondition or ResourceExhausted if `device` cannot run this policy.
  static absl::StatusOr<Convolution> Create(const Problem& problem,
                                            const arch::DeviceLimits& device) {
    return Planned(Planner::Make(problem, FactsOf<PolicyT>(), &device));
  }

  template <class Number, class... More>
    requires(std::is_arithmetic_v<Number>)
  static absl::StatusOr<Convolution> Create(Number, More...) {
    static_assert(sizeof(Number) == 0,
                  "weft: Create takes a Problem, whose fields have names: "
                  "Create({.n = 1, .h = 32, .w = 32, .c = 64, .k = 64, .r = 3, .s = 3})");
    return absl::InternalError("");
  }

  const Problem& problem() const { return plan_.problem; }

  // How the work is divided into blocks.
  const PlanCounts& counts() const { return plan_.counts; }

  // Elements of src and dst in memory, the zero channels of blocked layouts included.
  std::int64_t src_size() const { return PolicyT::SrcLayout::Size(problem().src()); }
  std::int64_t dst_size() const { return PolicyT::DstLayout::Size(problem().dst()); }
  // Bytes of both: half their elements where SrcLayout or DstLayout is a PairedInt4.
  std::int64_t src_bytes() const {
    return weft::internal::BytesOf<typename PolicyT::SrcLayout, Element>(src_size());
  }
  std::int64_t dst_bytes() const {
    return weft::internal::BytesOf<typename PolicyT::DstLayout, Output>(dst_size());
  }

  // The extents of one filter, as PackFilter, PackFilters and PackDepthwiseFilter take them.
  FilterExtents filter_extents() const {
    const FilterExtents of_group = problem().filter();
    if (!CheckedPolicy<PolicyT>::kDepthwise) return of_group;
    return {problem().k, 1, of_group.r, of_group.s};
  }

  // How many filters the prologue's bank must have; 0: any number.
  std::int64_t filters() const { return Prologue::Filters(plan_.batch); }

  // A description in one line: tile, kernel, grid, shared memory, layouts.
  std::string Describe() const { return Planner::Describe(plan_, FactsOf<PolicyT>()); }

  // Enqueues the kernel on `stream` and returns; it allocates and synchronises nothing and can be
  // captured in a CUDA graph. InvalidArgument for bad arguments; FailedPrecondition if there is no
  // GPU, if it is too old, or if this program holds no GPU code for PolicyT; Internal if CUDA
  // refuses.
  absl::Status Run(const Arguments& args, Stream stream,
                   const gemm::LaunchOptions& options = {}) const {
    return Start(args, gemm::GpuBackEnd{stream, options});
  }

  // Runs the same kernel on the CPU and returns when it is done, with the executor's counts in
  // *stats if that is not null. Internal if the executor finds the kernel at fault (deadlock,
  // divergence, a bad access), with the kernel's line.
  absl::Status RunOnCpu(const Arguments& args,
                        const gemm::CpuOptions& options = gemm::CpuOptions::FromEnvironment(),
                        gemm::CpuStats* stats = nullptr) const {
    if (stats != nullptr) *stats = {};
    return Start(args, gemm::CpuBackEnd{options, stats});
  }

  // Everything that Run checks before it launches.
  absl::Status CheckArguments(const Arguments& args) const;

 private:
  template <class>
  friend class gemm::Dispatch;  // which makes the plans

  explicit Convolution(const ConvPlan& plan) : plan_(plan) {}
  static absl::StatusOr<Convolution> Planned(const absl::StatusOr<ConvPlan>& plan) {
    if (!plan.ok()) return plan.status();
    return Convolution(*plan);
  }

  // Checks the arguments, makes the kernel's parameters and starts it. BackEnd: gemm::GpuBackEnd or
  // gemm::CpuBackEnd.
  template <class BackEnd>
  absl::Status Start(const Arguments& args, const BackEnd& on) const {
    if (absl::Status s = CheckArguments(args); !s.ok()) return s;
    if (problem().IsEmpty()) return absl::OkStatus();
    if constexpr (CheckedPolicy<PolicyT>::kDepthwise) {
      return StartDepthwise(args, on);
    } else if constexpr (CheckedPolicy<PolicyT>::kSlidingWindow) {
      return StartSlidingWindow(args, on);
    } else if constexpr (CheckedPolicy<PolicyT>::kGathers) {
      return StartGathered(args, on);
    } else if constexpr (CheckedPolicy<PolicyT>::kWgmma) {
      return StartTma(args, on);
    } else {
      switch (std::get<MultistagePlan>(plan_.kernel).kind()) {
        case SourceKind::kPointwise:
          return StartKind<SourceKind::kPointwise>(args, on);
        case SourceKind::kTaps:
          return StartKind<SourceKind::kTaps>(args, on);
        case SourceKind::kIm2col:
          return StartKind<SourceKind::kIm2col>(args, on);
      }
      return absl::InternalError("conv: no such kernel");
    }
  }

  template <class BackEnd>
  static absl::Status Launch(const BackEnd& on, const gemm::Launch& launch) {
    return on.template Run<PolicyT>("conv", FactsOf<PolicyT>(), launch);
  }

  template <class BackEnd>
  absl::Status StartDepthwise(const Arguments& args, const BackEnd& on) const {
    DepthwiseParams<PolicyT> params = MakeParams<PolicyT>(plan_, args.prologue);
    params.iterator.src = args.src;
    params.iterator.filter = args.filter.data();
    FillOutput(args, &params.output);
    params.output.rows.run = PixelRun(params.output.rows.q, args.dst);
    return Launch(on, {std::get<DepthwisePlan>(plan_.kernel).kernel, &params, plan_.grid()});
  }

  template <class BackEnd>
  absl::Status StartTma(const Arguments& args, const BackEnd& on) const {
    WgmmaParams<PolicyT> params = MakeParams<PolicyT>(plan_, args.prologue);
    const TmaPlan& tma = std::get<TmaPlan>(plan_.kernel);
    if (absl::Status s =
            gemm::MakeMap("conv", BackEnd::kMakeMap, tma.source_spec, args.src, &params.a.map);
        !s.ok()) {
      return s;
    }
    arch::TensorMapSpec filters = tma.filter_spec;
    filters.dim[filters.rank - 1] *= static_cast<std::uint32_t>(args.filter.count());
    const void* filter = args.filter.data();
    if (absl::Status s = gemm::MakeMap("conv", BackEnd::kMakeMap, filters, filter, &params.b.map);
        !s.ok()) {
      return s;
    }
    FillOutput(args, &params.output);
    if constexpr (kTransformsPadding<PolicyT>) {
      const SourceCorrection& table = args.source_correction;
      if (table.edge_rows() != nullptr) {
        params.padding = PaddingOf(problem(), tma, table.zero_point());
      }
    }
    // More would delay the source in kernels whose blocks cannot share a multiprocessor.
    constexpr std::int32_t kEarly = 2;
    return StartDependent(args, (std::min)(kEarly, params.k_tiles), &params, on);
  }

  template <class BackEnd>
  absl::Status StartSlidingWindow(const Arguments& args, const BackEnd& on) const {
    SlidingWindowParams<PolicyT> params = MakeParams<PolicyT>(plan_, args.prologue);
    params.a.src = args.src;
    if (params.a.places > 0 && reinterpret_cast<std::uintptr_t>(params.a.src) % 16 == 0) {
      if (absl::Status s = gemm::MakeMap("conv", BackEnd::kMakeMap,
                                         std::get<SlidingWindowPlan>(plan_.kernel).source_spec,
                                         params.a.src, &params.a.map);
          !s.ok()) {
        return s;
      }
      params.ring.tma_tiles = params.tiles;
    }
    const auto address = reinterpret_cast<std::uintptr_t>(params.a.src) | params.a.widest;
    params.a.widest = static_cast<std::int32_t>(address & -address);
    params.b.filter = args.filter.data();
    FillOutput(args, &params.output);
    return StartDependent(args, 1, &params, on);
  }

  template <class BackEnd>
  absl::Status StartGathered(const Arguments& args, const BackEnd& on) const {
    GatherParams<PolicyT> params = MakeParams<PolicyT>(plan_, args.prologue);
    params.a.src = args.src;
    params.b.filter = args.filter.data();
    FillOutput(args, &params.output);
    return StartDependent(args, 0, &params, on);
  }

  template <class Params>
  void FillOutput(const Arguments& args, Params* output) const {
    gemm::FillOutput(args, args.dst, output);
    if constexpr (Epilogue::kSourceZeroPoint) FillCorrection(args.source_correction, output);
    if constexpr (Epilogue::kFilterZeroPoint) {
      output->filter_zero_point = args.filter_zero_point;
    }
    if constexpr (Epilogue::kFilterZeroPoint && !CheckedPolicy<PolicyT>::kDepthwise) {
      output->window_sums = args.window_sums;
    }
  }

  // early: how many k tiles of the filter may be fetched before earlier kernels have ended.
  template <class Params, class BackEnd>
  absl::Status StartDependent(const Arguments& args, std::int32_t early, Params* params,
                              const BackEnd& on) const {
    gemm::Launch launch = {0, params, plan_.grid()};
    if (plan_.ring()->ring.b_stays) {
      launch.blocks_multiple = static_cast<int>(plan_.counts.tiles_n);
    }
    if (args.filter_is_constant) {
      params->early = early;
      launch.attributes.constant[0] = {
          args.filter.data(),
          static_cast<std::size_t>(
              args.filter.count() *
              weft::internal::BytesOf<typename PolicyT::FilterLayout, FilterElement>(
                  PolicyT::FilterLayout::Size(problem().filter())))};
    }
    return Launch(on, launch);
  }

  template <SourceKind kind, class BackEnd>
  absl::Status StartKind(const Arguments& args, const BackEnd& on) const {
    KernelParams<PolicyT, kind> params = MakeParams<PolicyT, kind>(plan_, args.prologue);
    params.a.src = args.src;
    if constexpr (kConvertsSource<PolicyT>) params.a.functor = args.source_functor;
    params.b.filter = args.filter.data();
    FillOutput(args, &params.output);
    return Launch(on, {static_cast<int>(kind), &params, plan_.grid()});
  }

  ConvPlan plan_;
};

// Describes the tensor that an epilogue's Copy stage writes, for gemm::CheckArguments.
template <class Epilogue, class Dst>
gemm::TensorArgument CopyArgument(const Epilogue& epilogue, const TensorExtents& dst) {
  using Layout = typename Epilogue::template CopyLayout<Dst>;
  using Copy = typename Epilogue::CopyStage;
  return {.field = "epilogue's copy",
          .address = epilogue.template Get<Copy>().to,
          .alignment = 16,
          .line_bytes = Layout::Size(dst) * std::int64_t{sizeof(typename Copy::Element)},
          .if_null = "is null; give args.epilogue.Get<Copy<T, Format>>().to"};
}

template <class PolicyT>
inline absl::Status Convolution<PolicyT>::CheckArguments(const Arguments& args) const {
  if (problem().IsEmpty()) return absl::OkStatus();
  if constexpr (kPerPhase<Prologue>) {
    if (args.prologue.rows < 1) {
      return absl::InvalidArgumentError(
          "conv: args.prologue of PerPhase has no destination; conv::Deconvolution gives it one");
    }
  }
  const TensorExtents dst = Destination(problem(), args.prologue);
  constexpr bool kChoosesLoads = CheckedPolicy<PolicyT>::kNhwc;
  // TMA loads whole blocks of NCxHWx<32>.
  constexpr bool kBlocks =
      CheckedPolicy<PolicyT>::kWgmma && !kChoosesLoads && !CheckedPolicy<PolicyT>::kSlidingWindow;
  gemm::TensorArgument operands[5] = {
      {.field = "src",
       .address = args.src,
       .alignment = kBlocks ? 32 : PolicyT::config.alignment.src,
       .line_bytes = src_bytes(),
       .helper = kChoosesLoads ? "WithSrcAlignment" : nullptr,
       .least_alignment = CheckedPolicy<PolicyT>::kWgmma ? 8 : 4,
       .given = args.src.given()},
      {.field = "filter",
       .address = args.filter.data(),
       .alignment = 16,
       .line_bytes = args.filter.bytes(),
       .if_null = "is not packed; call weft::PackFilter and pass its view(), or At(device_pointer) "
                  "after a copy to the GPU"}};
  const ZeroPoints zero_points{.source_stage = Epilogue::kSourceZeroPoint,
                               .filter_stage = Epilogue::kFilterZeroPoint,
                               .unsigned_source = CheckedPolicy<PolicyT>::kUnsigned,
                               .source_bits = CheckedPolicy<PolicyT>::kSrcBits,
                               .depthwise = CheckedPolicy<PolicyT>::kDepthwise,
                               .source_correction = args.source_correction,
                               .filter = args.filter.fingerprint(),
                               .filter_zero_point = args.filter_zero_point,
                               .window_sums = args.window_sums};
  const int count = 2 + zero_points.Operands(problem(), dst, operands + 2);
  const gemm::TensorArgument output = {
      .field = "dst",
      .address = args.dst,
      .alignment = PolicyT::config.alignment.dst,
      .line_bytes = Epilogue::kWritesOutput
                        ? weft::internal::BytesOf<typename PolicyT::DstLayout, Output>(
                              PolicyT::DstLayout::Size(dst))
                        : 0,
      .helper = "WithDstAlignment",
      .least_alignment = sizeof(Output),
      .given = args.dst.given()};
  // Residuals in blocked layouts are read by words of 4 channels, by wgmma_sm90 as widely as dst is
  // written.
  using ResidualLayout = typename Epilogue::template ResidualLayout<typename PolicyT::DstLayout>;
  const gemm::TensorArgument residual = {
      .alignment =
          CheckedPolicy<PolicyT>::kWgmma ? (std::max)(4, PolicyT::config.alignment.dst) : 4,
      .line_bytes = ResidualLayout::Size(dst) * std::int64_t{sizeof(ResidualElement)},
      .may_be_output = std::is_same_v<ResidualLayout, typename PolicyT::DstLayout> &&
                       sizeof(ResidualElement) == sizeof(Output)};
  auto epilogue = gemm::EpilogueArgumentsOf<Epilogue>(args, problem().k, residual);
  if constexpr (Epilogue::kHasCopy) {
    epilogue.copy = CopyArgument<Epilogue, typename PolicyT::DstLayout>(args.epilogue, dst);
  }
  if constexpr (Epilogue::kHasSums) {
    epilogue.image_sums = gemm::TensorArgument{
        .field = "epilogue's array of sums",
        .address = args.epilogue.template Get<typename Epilogue::SumsStage>().to,
        .alignment = alignof(std::int32_t),
        .line_bytes = problem().n * problem().k * std::int64_t{sizeof(std::int32_t)},
        .if_null =
            "is null; give args.epilogue.Get<ImageSums>() (or <OnlyImageSums>) the address "
            "of zeros, one int32 for each image and output channel"};
  }
  if (absl::Status s =
          gemm::CheckArguments("conv", absl::MakeConstSpan(operands, count), output, epilogue);
      !s.ok()) {
    return s;
  }
  if (absl::Status s = CheckZeroPoints(problem(), zero_points); !s.ok()) return s;
  return CheckFilter(filter_extents(), args.filter.extents(), args.filter.count(), filters(),
                     Prologue::kName);
}

}  // namespace weft::conv
