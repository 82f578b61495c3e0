// Measuring in worker processes, which a library may take with it.
#pragma once

#include "perf/weft_perf/run.hpp"

namespace weft::perf {

// Measures every problem of the run and prints a line for each. A worker that dies is started again
// without what it died of. False if there is no GPU; board->failure says why. CUDA must not have
// been touched by this process.
bool MeasureAll(const Run& run, Board* board);

}  // namespace weft::perf
