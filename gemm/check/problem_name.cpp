#include "weft/gemm/check/problem_name.hpp"

#include <cctype>

#include "absl/strings/str_cat.h"

namespace weft::gemm {

bool NameReader::Take(const std::string& word) {
  if (name_.compare(at_, std::string::npos, word) != 0) return false;
  at_ = name_.size();
  return true;
}

absl::Status NameReader::Numbers(char letter, const std::vector<std::int64_t*>& into,
                                 const char* what) {
  const std::size_t start = at_;
  if (!At(letter)) {
    return Wrong(start, absl::StrCat("'", std::string(1, letter), "' and ", what));
  }
  std::vector<std::int64_t> values;
  do {
    ++at_;
    std::int64_t value = 0;
    const std::size_t first = at_;
    for (; at_ < name_.size() && std::isdigit(static_cast<unsigned char>(name_[at_])); ++at_) {
      if (at_ - first == 12) return Wrong(start, "a number of at most 12 digits");
      value = value * 10 + (name_[at_] - '0');
    }
    if (at_ == first) {
      return Wrong(start, absl::StrCat("'", std::string(1, letter), "' and ", what));
    }
    values.push_back(value);
  } while (At('x'));
  if (values.size() != 1 && values.size() != into.size()) {
    return Wrong(start,
                 absl::StrCat(into.size() == 1 ? "one number" : "one number or ",
                              into.size() == 1 ? "" : absl::StrCat(into.size()), ": ", what));
  }
  for (std::size_t i = 0; i < into.size(); ++i) {
    *into[i] = values[values.size() == 1 ? 0 : i];
  }
  return absl::OkStatus();
}

absl::Status NameReader::Wrong(std::size_t at, const std::string& expected) const {
  const std::string rest = name_.substr(at);
  return absl::InvalidArgumentError(
      absl::StrCat("problem '", name_, "': ", rest.empty() ? "it ends" : "'" + rest + "' stands",
                   " where ", expected, " would be accepted, as in ", example_));
}

std::string ProblemName(const GemmProblem& p) {
  return absl::StrCat("m", p.m, "n", p.n, "k", p.k, p.batch == 1 ? "" : absl::StrCat("b", p.batch));
}

absl::StatusOr<GemmProblem> ParseProductName(const std::string& name) {
  GemmProblem p;
  NameReader reader(name, "m4096n512k1024");
  if (absl::Status s = reader.Numbers('m', {&p.m}, "the rows of A and C"); !s.ok()) return s;
  if (absl::Status s = reader.Numbers('n', {&p.n}, "the columns of B and C"); !s.ok()) return s;
  if (absl::Status s = reader.Numbers('k', {&p.k}, "the columns of A"); !s.ok()) return s;
  if (reader.At('b')) {
    if (absl::Status s = reader.Numbers('b', {&p.batch}, "the products"); !s.ok()) return s;
  }
  if (!reader.AtEnd()) return reader.Wrong(reader.at(), "the end");
  return p;
}

}  // namespace weft::gemm
