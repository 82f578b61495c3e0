// Independent jobs on all processors.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::network {

// Calls `job` for 0 to count - 1, on as many threads as there are processors, or fewer where no more can be started, and
// returns when all are done.
void InParallel(std::size_t count, const std::function<void(std::size_t)>& job);

}  // namespace weft::network
