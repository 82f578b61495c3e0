// The fit of the tile model's constants to measured times.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "perf/model_check/times.hpp"
#include "weft/gemm/choose/tile_model_constants.hpp"

namespace weft::perf {

// Fits the constants of gemm/choose/tile_model_constants.hpp, which is at `path`, to `times` and
// writes them there, to three digits. It goes from constant to constant, a step up or down, and
// takes the step that makes the choices of the model cost less, until none does.
// FailedPrecondition if the file is not the one that this program was built with.
absl::StatusOr<gemm::internal::ModelConstants> Fit(const std::string& path,
                                                   const std::vector<const Timed*>& times);

}  // namespace weft::perf
