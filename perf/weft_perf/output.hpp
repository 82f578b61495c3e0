// What is left of a run: summaries, and the files that the flags ask for.
#pragma once

#include "perf/weft_perf/run.hpp"

namespace weft::perf {

// 0 if every row is exact and measured, and every file written.
int Report(const Run& run, const Board& board);

}  // namespace weft::perf
