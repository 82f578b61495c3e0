// Names of problems, for files and logs: m4096n512k1024, m128n128k64b96; and what names of other operators' problems
// are read with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// A product in one word: m<m>n<n>k<k>, of a batch (of groups) m<m>n<n>k<k>b<batch>. Leading dimensions
// and strides do not count, as activations do not: they hardly change which tile is the quickest.
std::string ProblemName(const GemmProblem& problem);

// The product called `name`, densely packed. InvalidArgument says which part is wrong and what would
// be accepted. CheckGemmProblem says whether the numbers describe a product.
absl::StatusOr<GemmProblem> ParseProductName(const std::string& name);

// Reads a name from left to right.
class NameReader {
 public:
  // example: a good name, for messages. `name` outlives the reader.
  NameReader(const std::string& name, const char* example) : name_(name), example_(example) {}

  bool AtEnd() const { return at_ == name_.size(); }
  bool At(char letter) const { return at_ < name_.size() && name_[at_] == letter; }
  std::size_t at() const { return at_; }

  // Whether the rest of the name is `word`, which is then read.
  bool Take(const std::string& word);

  // `letter`, then 1 number or as many as `into` has, joined by 'x'. One number stands for all.
  // Numbers have at most 12 digits.
  absl::Status Numbers(char letter, const std::vector<std::int64_t*>& into, const char* what);

  absl::Status Wrong(std::size_t at, const std::string& expected) const;

 private:
  const std::string& name_;
  const char* example_;
  std::size_t at_ = 0;
};

}  // namespace weft::gemm
