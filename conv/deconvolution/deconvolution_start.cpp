#include "weft/conv/deconvolution/deconvolution_start.hpp"

#include <utility>

#include "weft/conv/problem/problem_checks.hpp"

namespace weft::conv {
namespace {

absl::Status ForEachPhase(const DeconvolutionPlan& plan, const DeconvolutionRun& run,
                          PhaseFunction function) {
  const DeconvolutionCorrection& correction = *run.source_correction;
  const std::int32_t* numbers = correction.data();
  for (std::size_t i = 0; i < plan.phases.size(); ++i) {
    const Phase& phase = plan.phases[i];
    const std::int64_t begin = plan.offsets[phase.part];
    ConvRun of = run.every;
    of.filter.data = static_cast<const std::int8_t*>(run.every.filter.data) + begin;
    of.filter.bytes = plan.offsets[phase.part + 1] - begin;
    of.filter.count = of.filter.needed = 1;
    of.filter.extents = phase.problem.filter();
    of.prologue = of.phase = &phase.place;
    SourceCorrection table;
    if (plan.source_zero_point && numbers != nullptr) {
      table = plan.corrections[i].With(numbers, correction.zero_point());
      numbers += table.bytes() / std::int64_t{sizeof(std::int32_t)};
    }
    of.source_correction = &table;
    if (absl::Status s = function(i, of); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeconvolutionPlan> PlanDeconvolution(
    const DeconvolutionProblem& problem, const gemm::EpilogueFacts& epilogue,
    std::vector<std::int64_t> (*offsets)(const FilterParts& parts)) {
  if (absl::Status s = CheckDeconvolution(problem); !s.ok()) return s;
  if (epilogue.image_sums) {  // all phases add to the same sums
    if (absl::Status s = internal::CheckImageSums(problem.p(), problem.q()); !s.ok()) return s;
  }
  DeconvolutionPlan plan = {.problem = problem,
                            .phases = PhasesOf(problem),
                            .offsets = offsets(PartsOf(problem)),
                            .source_zero_point = epilogue.source_zero_point,
                            .corrections = {}};
  if (plan.source_zero_point) {
    absl::StatusOr<std::vector<SourceCorrection>> tables =
        internal::LayOutPhases(problem, plan.phases, 0);
    if (!tables.ok()) return tables.status();
    plan.corrections = *std::move(tables);
  }
  return plan;
}

absl::Status CheckArguments(const DeconvolutionPlan& plan, const DeconvolutionRun& run,
                            PhaseFunction check) {
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const FilterRun& filter = run.every.filter;
  if (absl::Status s =
          internal::CheckDeconvolutionRun(plan.problem, filter.data, run.parts, filter.fingerprint,
                                          *run.source_correction, plan.source_zero_point);
      !s.ok()) {
    return s;
  }
  return ForEachPhase(plan, run, check);
}

absl::Status Start(const DeconvolutionPlan& plan, const DeconvolutionRun& run, PhaseFunction check,
                   PhaseFunction start) {
  if (absl::Status s = CheckArguments(plan, run, check); !s.ok()) return s;
  return plan.problem.IsEmpty() ? absl::OkStatus() : ForEachPhase(plan, run, start);
}

}  // namespace weft::conv
