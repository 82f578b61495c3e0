// How tiles of a network are tuned: a greedy search over groups of convolutions, by times of the whole chain. It knows
// neither kernels nor a clock.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/network.hpp"

namespace weft::network {

// Steps that run one kernel on one problem, and get one tile.
struct TuneGroup {
  std::vector<std::string> steps{};  // their names
  std::vector<std::string> tiles{};  // the candidates; the first is the one that they have
};

// What is told while a network is tuned: first how much there is to do, then each candidate once it has been measured.
struct TuneProgress {
  std::size_t groups = 0, candidates = 0;  // in all
  std::size_t group = 0;                   // that was measured, from 1 on; 0: none yet
  std::string step{};                      // the group's first
  std::size_t steps = 0;                   // how many it has
  std::string tile{};
  double microseconds = 0.0;  // of the whole chain with the tile
  double before = 0.0;        // with the best tiles so far, measured in turn with it
  bool kept = false;          // whether the tile is one of the best from then on
};

// Returning an error ends the search with it.
using TuneReport = std::function<absl::Status(const TuneProgress&)>;

// Measures the whole chain once with these tiles, for long enough that a clock can tell: microseconds.
using TuneSample = std::function<absl::StatusOr<double>(const Tiles& tiles)>;

// The times of a chain with two choices of tiles.
struct TuneComparison {
  double before = 0.0, after = 0.0;  // medians, in microseconds
  bool is_faster = false;            // `after` is faster by more than the noise of these samples
};

// Takes samples of both in turn, so that a clock that drifts counts for both, until one is faster beyond the noise or there
// are enough. The errors of `sample`.
absl::StatusOr<TuneComparison> Compare(const Tiles& before, const Tiles& after,
                                       const TuneSample& sample);

// For one group after the other tries each tile in the chain, with the best tiles of the groups before, and keeps it where
// the chain becomes faster. The tiles of all steps of the groups. The errors of `sample` and `report`, which may be null.
absl::StatusOr<Tiles> TuneGreedily(const std::vector<TuneGroup>& groups, const TuneSample& sample,
                                   const TuneReport& report);

}  // namespace weft::network
