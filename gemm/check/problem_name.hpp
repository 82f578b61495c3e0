// Names of matrix products, for files and logs: m4096n512k1024, m128n128k64b96; and the NameReader
// that reads the names of other operators' problems, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/gemm/check/gemm_checks.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// A product in one word: m<m>n<n>k<k>, or m<m>n<n>k<k>b<batch> for a batch of several products or
// groups. Leading dimensions, strides and activations are no part of the name, since they hardly
// change which tile is the quickest.
std::string ProblemName(const GemmProblem& problem);

// The product called `name`, densely packed. InvalidArgument says which part is wrong and what
// would be accepted. CheckGemmProblem says whether the numbers describe a product.
absl::StatusOr<GemmProblem> ParseProductName(const std::string& name);

// Reads a name from left to right.
class NameReader {
 public:
  // example: a valid name, for messages. `name` must outlive the reader.
  NameReader(const std::string& name, const char* example) : name_(name), example_(example) {}

  bool AtEnd() const { return at_ == name_.size(); }
  bool At(char letter) const { return at_ < name_.size() && name_[at_] == letter; }
  std::size_t at() const { return at_; }

  // Reads the rest of the name if it is `word`; false if it is not.
  bool Take(const std::string& word);

  // Reads `letter`, then one number, or as many as `into` has, joined by 'x'. One number sets all
  // of `into`. Numbers have at most 12 digits. what: what they mean, for messages.
  absl::Status Numbers(char letter, const std::vector<std::int64_t*>& into, const char* what);

  // InvalidArgument: what stands at position `at`, and what is expected there.
  absl::Status Wrong(std::size_t at, const std::string& expected) const;

 private:
  const std::string& name_;
  const char* example_;
  std::size_t at_ = 0;
};

}  // namespace weft::gemm
