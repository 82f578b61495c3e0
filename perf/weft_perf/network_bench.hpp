// Measures a network at one batch: our chain and cuDNN's, each layer with its best tile or plan,
// then whole chains side by side. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <string>
#include <vector>

#include "perf/network/network.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/rows.hpp"
#include "perf/weft_perf/options.hpp"

namespace weft::perf {

// What both sides compute, and what is left out.
std::string NetworkMethod();

// A row's line on the screen.
std::string NetworkLine(const Json& row);

// Steps are called "<peer> <layer>/<step>". cuDNN is left out without peers.
Json MeasureNetwork(const Network& network, const Options& options, const Choices& choices,
                    const std::set<std::string>& skip, const RowRun::About& about,
                    const RowRun::Send& send, Machine* machine);

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
