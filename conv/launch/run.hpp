// A run of a convolution without the types of its policy: what its Arguments say.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/launch/arguments.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/gemm/check/output_run.hpp"
#include "weft/prologues/prologues.hpp"

namespace weft::conv {

// The filter of a run, or its bank of filters.
struct FilterRun {
  const void* data = nullptr;
  std::int64_t bytes = 0, count = 0;  // of all filters of the bank, and how many there are
  FilterExtents extents;
  std::uint64_t fingerprint = 0;
  std::int64_t needed = 0;  // how many the prologue needs; 0: any number
};

[[gnu::visibility("hidden")]] inline const SourceCorrection kNoSourceCorrection{};

// A PackedFilter as a run has it; `needed` is the prologue's.
template <class Packed>
[[gnu::visibility("hidden")]] FilterRun FilterRunOf(const Packed& filter) {
  return {.data = filter.data(),
          .bytes = filter.bytes(),
          .count = filter.count(),
          .extents = filter.extents(),
          .fingerprint = filter.fingerprint()};
}

// It points into the Arguments.
struct ConvRun {
  gemm::GivenTensor src;
  FilterRun filter;
  gemm::OutputRun output;
  const SourceCorrection* source_correction = &kNoSourceCorrection;
  gemm::NumbersPointer<std::int32_t> filter_zero_point = nullptr, window_sums = nullptr;
  bool filter_is_constant = false;
  std::int64_t dst_channels = 0;  // of the tensor that dst is a slice of; 0: dst is the tensor
  // The run-time values of the prologue and of the source functor, as bytes.
  const void *prologue = nullptr, *source_functor = nullptr;
  const prologues::PerPhase* phase = nullptr;  // the prologue, if it is a PerPhase
};

// What the Arguments of all operators that are convolutions say in the same words.
template <class Epilogue, class Arguments>
[[gnu::visibility("hidden")]] ConvRun TensorsOf(const Arguments& args) {
  ConvRun run;
  run.src = gemm::internal::TensorOf(args.src);
  run.output = gemm::OutputRunOf<Epilogue>(args, args.dst);
  return run;
}

// The run that these arguments describe.
template <class Arguments>
[[gnu::visibility("hidden")]] ConvRun RunOf(const ConvPlan& plan, const Arguments& args) {
  using Prologue = typename Arguments::Filter::Prologue;
  ConvRun run = TensorsOf<typename Arguments::Epilogue>(args);
  run.filter = FilterRunOf(args.filter);
  run.filter.needed = Prologue::Filters(plan.batch);
  run.source_correction = &args.source_correction;
  run.filter_zero_point = args.filter_zero_point;
  run.window_sums = args.window_sums;
  run.filter_is_constant = args.filter_is_constant;
  run.dst_channels = args.dst_channels;
  run.prologue = &args.prologue;
  run.source_functor = &args.source_functor;
  if constexpr (std::is_same_v<Prologue, prologues::PerPhase>) run.phase = &args.prologue;
  return run;
}

// The extents of the tensor that a run writes to, dst being the plan's. The pixels of a phase (of a transposed
// convolution) are only some of the pixels of that tensor, and the channels of a slice some of its channels.
TensorExtents Destination(const TensorExtents& dst, const ConvRun& run);

}  // namespace weft::conv
