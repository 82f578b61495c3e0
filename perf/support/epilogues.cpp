#include "perf/support/epilogues.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::perf {

const std::vector<std::string>& EpilogueNames() {
  static const std::vector<std::string> names = {"bias_relu", "residual", "hswish"};
  return names;
}

absl::StatusOr<Epilogue> ParseEpilogue(const std::string& name) {
  const std::vector<std::string>& names = EpilogueNames();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<Epilogue>(found - names.begin());
  return absl::InvalidArgumentError(
      absl::StrCat("epilogue '", name, "' does not exist; there are ", absl::StrJoin(names, ", ")));
}

const std::string& EpilogueName(Epilogue epilogue) {
  return EpilogueNames()[static_cast<int>(epilogue)];
}

std::string EpilogueText(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::kResidual:
      return "scale per channel, float bias, scaled int8 residual, ReLU";
    case Epilogue::kHSwish:
      return "scale per channel, float bias, hard swish";
    default:
      return "scale per channel, float bias, ReLU";
  }
}

}  // namespace weft::perf
