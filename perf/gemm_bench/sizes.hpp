// The products of gemm_bench --sizes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "weft/gemm/gemm_checks.hpp"

namespace weft::perf {

// "4096" or "10240x4096x4096".
inline absl::StatusOr<gemm::GemmProblem> ParseSize(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  gemm::GemmProblem p;
  bool fine = parts.size() == 1 || parts.size() == 3;
  if (fine) {
    fine = absl::SimpleAtoi(parts[0], &p.m) && absl::SimpleAtoi(parts[parts.size() / 2], &p.n) &&
           absl::SimpleAtoi(parts.back(), &p.k);
  }
  if (!fine || !gemm::CheckExtents(p).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--sizes: ", text, " is no product; give 4096 or 10240x4096x4096"));
  }
  return p;
}

inline std::string SizeName(const gemm::GemmProblem& p) {
  return p.m == p.n && p.n == p.k ? absl::StrCat(p.m) : absl::StrCat(p.m, "x", p.n, "x", p.k);
}

}  // namespace weft::perf
