// The best variant of a peer, ours or another's.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "perf/bench/peer_steps.hpp"
#include "perf/peers/peer.hpp"
#include "perf/support/data_kernels.hpp"
#include "perf/support/row.hpp"
#include "perf/weft_perf/our_tiles.hpp"
#include "perf/weft_perf/run.hpp"

namespace weft::perf {

struct Search {
  const Stopwatch* watch = nullptr;
  int sets = 1;
  double sample_us = 400.0;
  bool time = true;                          // else each variant runs once
  const std::vector<Tile>* tiles = nullptr;  // ours: then any difference is a mismatch
  std::string only;                          // a part of the variant's name; empty: all
  bool family = false;                       // ours: only tiles of the ready-made family, if any
  // Runs a variant and compares.
  std::function<absl::StatusOr<Differences>(int variant)> check;
};

// Checks and shortly times every variant of a peer that was prepared; long ones that come near the
// best longer, until the GPU is hot. The best, in `c`, stays
// built. Unimplemented if there is none; of ours also any error that is no refusal.
absl::Status FindBest(Peer& peer, const PeerOptions& options, const Search& search, Contender* c);

// A peer's choice on its way to the parent process; and an earlier one, empty if there is none.
Json ChoiceLine(const conv::Problem& problem, const std::string& peer, const std::string& variant);
std::string ChoiceOf(const Choices& choices, const conv::Problem& problem, const std::string& peer);

}  // namespace weft::perf
