// The table that weft_perf prints while it runs; perf/README.md has the columns.
#pragma once

#include "perf/weft_perf/run.hpp"

namespace weft::perf {

void PrintHeader(const Run& run);
void PrintRow(const Run& run, const LayerRow& row);

// The machine, its ceilings and libraries.
void PrintEnvironment(const Board& board);

}  // namespace weft::perf
