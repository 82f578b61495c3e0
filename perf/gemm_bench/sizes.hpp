// The products of gemm_bench --sizes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "weft/gemm/check/gemm_checks.hpp"

namespace weft::perf {

// "4096", "10240x4096x4096", or "128x128x64x96" for 96 of them in one launch.
inline absl::StatusOr<gemm::GemmProblem> ParseSize(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, 'x');
  gemm::GemmProblem p;
  bool fine = parts.size() == 1 || parts.size() == 3 || parts.size() == 4;
  if (fine) {
    const bool cube = parts.size() == 1;
    fine = absl::SimpleAtoi(parts[0], &p.m) && absl::SimpleAtoi(parts[cube ? 0 : 1], &p.n) &&
           absl::SimpleAtoi(parts[cube ? 0 : 2], &p.k) &&
           (parts.size() < 4 || absl::SimpleAtoi(parts[3], &p.batch));
  }
  // Of a product without elements there is nothing to measure.
  fine = fine && p.m > 0 && p.n > 0 && p.k > 0 && p.batch > 0;
  if (!fine || !gemm::CheckExtents(p).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--sizes: ", text,
                     " is no product; give 4096, 10240x4096x4096 or, of a batch, "
                     "128x128x64x96"));
  }
  return p;
}

inline std::string SizeName(const gemm::GemmProblem& p) {
  if (p.m == p.n && p.n == p.k && p.batch == 1) return absl::StrCat(p.m);
  return absl::StrCat(p.m, "x", p.n, "x", p.k, p.batch == 1 ? "" : absl::StrCat("x", p.batch));
}

}  // namespace weft::perf
