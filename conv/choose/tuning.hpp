// Tuning tables (gemm/choose/tuning.hpp) for convolutions.
#pragma once

#include <string>

#include "weft/conv/policy/family.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/choose/tuning.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

using gemm::OperatorName;
using gemm::PolicyName;
using gemm::TuningRecord;

std::string ProblemName(const Problem& problem);  // of records: conv/problem/problem_name.hpp

// Checks the names of convolutions too: they are problems that CheckProblem accepts.
class TuningTable : public gemm::TuningTable {
 public:
  TuningTable() : gemm::TuningTable(&OneNameOf) {}

  // As gemm::TuningTable's.
  static absl::StatusOr<TuningTable> Parse(const std::string& source, const std::string& text) {
    TuningTable table;
    if (absl::Status s = table.AddText(source, text); !s.ok()) return s;
    return table;
  }
  static absl::StatusOr<TuningTable> Read(const std::string& path) {
    TuningTable table;
    if (absl::Status s = table.AddFile(path); !s.ok()) return s;
    return table;
  }

 private:
  static absl::StatusOr<std::string> OneNameOf(const std::string& name);
};

}  // namespace weft::conv
