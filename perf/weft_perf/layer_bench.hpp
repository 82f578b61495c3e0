// Measures one layer: our layouts and the peers, each choosing its best variant, then side by side.
// Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <optional>
#include <string>
#include <vector>

#include "perf/peers/machine.hpp"
#include "perf/support/layers.hpp"
#include "perf/support/rows.hpp"
#include "perf/weft_perf/options.hpp"

namespace weft::perf {

// `skip` has steps "<peer>/<step>"; `choices` earlier ones. What goes wrong is in the result.
Json MeasureLayer(const conv::Problem& problem, const Options& options, const Choices& choices,
                  const std::set<std::string>& skip, const RowRun::About& about,
                  const RowRun::Send& send, Machine* machine);

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
