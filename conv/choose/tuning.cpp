#include "weft/conv/choose/tuning.hpp"

#include "absl/strings/str_cat.h"
#include "weft/conv/problem/depthwise_pointwise_problem.hpp"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/gemm/check/problem_name.hpp"

namespace weft::conv {

absl::StatusOr<std::string> TuningTable::OneNameOf(const std::string& name) {
  if (!name.empty() && name[0] == 'm') return gemm::TuningTable::OneNameOf(name);
  const std::size_t plus = name.find('+');  // of a DepthwisePointwise
  const std::string first = name.substr(0, plus);
  absl::StatusOr<Problem> problem = ParseProblemName(first);
  if (!problem.ok()) return problem.status();
  const auto bad = [&](const absl::Status& s) {
    return absl::InvalidArgumentError(absl::StrCat("problem=", name, ": ", s.message()));
  };
  if (absl::Status s = CheckProblem(*problem); !s.ok()) return bad(s);
  if (plus == std::string::npos) return ProblemName(*problem);
  DepthwisePointwiseProblem both{*problem, 0};
  const std::string rest = name.substr(plus + 1);
  gemm::NameReader reader(rest, "k24");
  if (absl::Status s = reader.Numbers('k', {&both.k}, "the output channels"); !s.ok()) return s;
  if (!reader.AtEnd()) return reader.Wrong(reader.at(), "the end");
  if (absl::Status s = CheckProblem(both.pointwise()); !s.ok()) return bad(s);
  return ProblemName(both);
}

}  // namespace weft::conv
