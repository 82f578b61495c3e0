// What a peer is to do in a row, whose steps may crash, and how its variants are timed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "perf/bench/bench.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

// What a peer called `name` is to do in a row, where steps are called "<name>/<step>": all but
// those to be skipped, and if an earlier run chose a variant, that one only.
PeerOptions OptionsFor(const std::string& name, const Measuring& measuring,
                       const std::string& chosen, int threads);

inline constexpr int kRoundingAllowance = 1;  // a peer's variant that is further off is none

// Microseconds of a variant that was built, by samples of `sample_us`. A long one that comes near the best, of `best_us`, or
// negative if there is none yet, is timed longer: within a few milliseconds the limit of power is not felt, which changes the
// order of variants.
absl::StatusOr<double> TimeOf(Peer& peer, int variant, const Stopwatch& watch, int sets,
                              double sample_us, double best_us);

}  // namespace weft::perf
