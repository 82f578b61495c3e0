// Plans, checks and starts a Deconvolution of any policy: a convolution for each phase of the stride.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "weft/conv/deconvolution/deconvolution_correction.hpp"
#include "weft/conv/deconvolution/deconvolution_plan.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/gemm/check/epilogue_facts.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// All of a Deconvolution but the operators of its phases.
struct DeconvolutionPlan {
  DeconvolutionProblem problem;
  std::vector<Phase> phases;
  std::vector<std::int64_t>
      offsets;  // bytes from the first part of the filter to each, and to their end
  bool source_zero_point = false;             // the epilogue has that stage
  std::vector<SourceCorrection> corrections;  // then: each phase's table, without its numbers
};

// InvalidArgument and OutOfRange as for CheckDeconvolution; further checks of a policy's epilogue. offsets:
// PartOffsets of the policy's FilterLayout.
absl::StatusOr<DeconvolutionPlan> PlanDeconvolution(
    const DeconvolutionProblem& problem, const gemm::EpilogueFacts& epilogue,
    std::vector<std::int64_t> (*offsets)(const FilterParts& parts));

// A run without the types of its policy; it points into the Arguments.
struct DeconvolutionRun {
  ConvRun every;  // what all phases have; its filter's address is that of the first part
  FilterParts parts;
  const DeconvolutionCorrection* source_correction = nullptr;
};

// What becomes of one phase: its number, and its run.
using PhaseFunction = absl::FunctionRef<absl::Status(std::size_t phase, const ConvRun& run)>;

// Everything that is checked before a launch. check: of a phase's operator. Where dst has no elements, any run
// is right.
absl::Status CheckArguments(const DeconvolutionPlan& plan, const DeconvolutionRun& run,
                            PhaseFunction check);

// Starts all phases, after all were found to be right: a run that is refused has written nothing.
absl::Status Start(const DeconvolutionPlan& plan, const DeconvolutionRun& run, PhaseFunction check,
                   PhaseFunction start);

}  // namespace weft::conv
