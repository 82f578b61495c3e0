// What a sweep over tiles is for: the table that conv::Dispatch reads, and how well its model
// chooses without it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "perf/support/layer_rows.hpp"
#include "weft/conv/tuning.hpp"

namespace weft::perf {

// Puts the quickest tile of each row and layout into `table`, by the short measurement: of the
// tiles that the ready-made family has, or of all where it has none of them. Rows that are not
// exact are left out.
absl::Status PutBest(const LayerResults& results, conv::TuningTable* table);

// The times of every tile, layout by layout, the best marked * and the model's choice m, and what
// the latter costs.
std::string SweepText(const LayerResults& results);

}  // namespace weft::perf
