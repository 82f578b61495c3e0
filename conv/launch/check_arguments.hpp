// What a convolution checks of a run's arguments before it launches. A policy's config is here as
// values (ConvFacts), so that all policies of a family share the functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "weft/conv/launch/arguments.hpp"
#include "weft/conv/planner/plan.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// Describes the tensor that an epilogue's Copy stage writes, for gemm::CheckArguments.
template <class Epilogue, class Dst>
[[gnu::visibility("hidden")]] gemm::TensorArgument CopyArgument(const Epilogue& epilogue,
                                                                const TensorExtents& dst) {
  using Layout = typename Epilogue::template CopyLayout<Dst>;
  using Copy = typename Epilogue::CopyStage;
  return gemm::TensorArgument{
      .field = "epilogue's copy",
      .address = epilogue.template Get<Copy>().to,
      .alignment = 16,
      .line_bytes = Layout::Size(dst) * std::int64_t{sizeof(typename Copy::Element)},
      .if_null = "is null; give args.epilogue.Get<Copy<T, Format>>().to"};
}

namespace internal {

// The filter of a run, or its bank of filters, as the checks see it.
struct FilterArgument {
  const void* data = nullptr;
  std::int64_t bytes = 0, count = 0;  // of all filters of the bank, and how many there are
  FilterExtents extents;
  std::int64_t filters = 0;  // how many the prologue needs; 0: any number
  const char* prologue = "";
};

// The tensors and numbers of a run, as the checks see them.
struct CheckedRun {
  TensorExtents dst;            // the destination's
  gemm::TensorArgument source;  // its address, bytes and elements
  gemm::TensorArgument output;
  FilterArgument filter;
  ZeroPoints zero_points;
  gemm::EpilogueArguments epilogue;
};
absl::Status CheckRun(const ConvPlan& plan, const ConvFacts& facts, const CheckedRun& run);

// A phase of a transposed convolution needs its destination.
template <class Prologue>
[[gnu::visibility("hidden")]] absl::Status CheckPrologue(const Prologue&) {
  return absl::OkStatus();
}
absl::Status CheckPrologue(const prologues::PerPhase& phase);

// The epilogue's part of a convolution's arguments. dst: the destination's extents.
template <class DstLayout, class Arguments>
[[gnu::visibility("hidden")]] gemm::EpilogueArguments EpilogueArgumentsOf(const Problem& problem,
                                                                          const ConvFacts& facts,
                                                                          const TensorExtents& dst,
                                                                          const Arguments& args) {
  using Epilogue = typename Arguments::Epilogue;
  using Residual = typename Arguments::ResidualElement;
  using ResidualLayout = typename Epilogue::template ResidualLayout<DstLayout>;
  // Residuals in blocked layouts are read by words of 4 channels, by wgmma_sm90 as widely as dst is
  // written.
  constexpr int kWord = 4;
  const bool wide = facts.config.mainloop == gemm::Mainloop::kWgmmaSm90;
  auto epilogue = gemm::EpilogueArgumentsOf<Epilogue>(
      args, problem.k,
      gemm::TensorArgument{
          .alignment = wide ? (std::max)(kWord, facts.config.alignment.dst) : kWord,
          .line_bytes = ResidualLayout::Size(dst) * std::int64_t{sizeof(Residual)},
          .may_be_output = std::is_same_v<ResidualLayout, DstLayout> &&
                           sizeof(Residual) == sizeof(typename Epilogue::Output)});
  if constexpr (Epilogue::kHasCopy) {
    epilogue.copy = CopyArgument<Epilogue, DstLayout>(args.epilogue, dst);
  }
  if constexpr (Epilogue::kHasSums) {
    epilogue.image_sums = gemm::TensorArgument{
        .field = "epilogue's array of sums",
        .address = args.epilogue.template Get<typename Epilogue::SumsStage>().to,
        .alignment = alignof(std::int32_t),
        .line_bytes = problem.n * problem.k * std::int64_t{sizeof(std::int32_t)},
        .if_null =
            "is null; give args.epilogue.Get<ImageSums>() (or <OnlyImageSums>) the address "
            "of zeros, one int32 for each image and output channel"};
  }
  return epilogue;
}

}  // namespace internal

// Everything that Run checks before it launches. src_bytes: the source's, in SrcLayout.
template <class DstLayout, class Arguments>
[[gnu::visibility("hidden")]] absl::Status CheckArguments(const ConvPlan& plan,
                                                          const ConvFacts& facts,
                                                          std::int64_t src_bytes,
                                                          const Arguments& args) {
  using Epilogue = typename Arguments::Epilogue;
  using Output = typename Epilogue::Output;
  using Prologue = typename Arguments::Filter::Prologue;
  const Problem& problem = plan.problem;
  if (problem.IsEmpty()) return absl::OkStatus();
  if (absl::Status s = internal::CheckPrologue(args.prologue); !s.ok()) return s;
  const TensorExtents dst = Destination(problem, args.prologue);
  return internal::CheckRun(
      plan, facts,
      internal::CheckedRun{
          .dst = dst,
          .source =
              gemm::TensorArgument{
                  .address = args.src, .line_bytes = src_bytes, .given = args.src.given()},
          .output =
              gemm::TensorArgument{.field = "dst",
                                   .address = args.dst,
                                   .alignment = facts.config.alignment.dst,
                                   .line_bytes = Epilogue::kWritesOutput
                                                     ? weft::internal::BytesOf<DstLayout, Output>(
                                                           DstLayout::Size(dst))
                                                     : 0,
                                   .helper = "WithDstAlignment",
                                   .least_alignment = sizeof(Output),
                                   .given = args.dst.given()},
          .filter = internal::FilterArgument{.data = args.filter.data(),
                                             .bytes = args.filter.bytes(),
                                             .count = args.filter.count(),
                                             .extents = args.filter.extents(),
                                             .filters = Prologue::Filters(plan.batch),
                                             .prologue = Prologue::kName},
          .zero_points = ZeroPoints{.source_stage = Epilogue::kSourceZeroPoint,
                                    .filter_stage = Epilogue::kFilterZeroPoint,
                                    .unsigned_source = facts.source.is_unsigned,
                                    .source_bits = facts.source.bits,
                                    .depthwise = facts.depthwise,
                                    .source_correction = args.source_correction,
                                    .filter = args.filter.fingerprint(),
                                    .filter_zero_point = args.filter_zero_point,
                                    .window_sums = args.window_sums},
          .epilogue = internal::EpilogueArgumentsOf<DstLayout>(problem, facts, dst, args)});
}

}  // namespace weft::conv
