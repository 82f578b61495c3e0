// What --epilogue takes.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace weft::perf {

enum class Epilogue {
  kBiasRelu,  // relu(scale[k] * sums + bias[k])
  kResidual,  // relu(gamma * residual + scale[k] * sums + bias[k])
  kHSwish,    // hswish(scale[k] * sums + bias[k])
};

// "bias_relu", "residual", "hswish".
const std::vector<std::string>& EpilogueNames();

// InvalidArgument names what there is.
absl::StatusOr<Epilogue> ParseEpilogue(const std::string& name);

const std::string& EpilogueName(Epilogue epilogue);

// "scale per channel, float bias, ReLU": for result files.
std::string EpilogueText(Epilogue epilogue);

}  // namespace weft::perf
