// Runs of weft_perf: rows in child processes, the table on the screen, the files.
#pragma once

#include "absl/status/statusor.h"
#include "perf/weft_perf/options.hpp"

namespace weft::perf {

// True if every row is exact and measured, and every file written. InvalidArgument or NotFound if a
// flag is wrong, Unavailable without a GPU.
absl::StatusOr<bool> RunLayers(const Options& options);
absl::StatusOr<bool> RunNetwork(const Options& options);

}  // namespace weft::perf
