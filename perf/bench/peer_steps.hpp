// What a peer is to do in a row, whose steps may crash.
#pragma once

#include <string>

#include "perf/bench/bench.hpp"
#include "perf/peers/peer.hpp"

namespace weft::perf {

// What a peer called `name` is to do in a row, where steps are called "<name>/<step>": all but
// those to be skipped, and if an earlier run chose a variant, that one only.
PeerOptions OptionsFor(const std::string& name, const Measuring& measuring,
                       const std::string& chosen, int threads);

}  // namespace weft::perf
