#include "weft/conv/tuning.hpp"

#include "absl/strings/str_cat.h"
#include "weft/conv/geometry.hpp"
#include "weft/conv/problem_name.hpp"

namespace weft::conv {

absl::StatusOr<std::string> TuningTable::OneNameOf(const std::string& name) {
  if (!name.empty() && name[0] == 'm') return gemm::TuningTable::OneNameOf(name);
  absl::StatusOr<Problem> problem = ParseProblemName(name);
  if (!problem.ok()) return problem.status();
  if (absl::Status s = CheckProblem(*problem); !s.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("problem=", name, ": ", s.message()));
  }
  return ProblemName(*problem);
}

}  // namespace weft::conv
