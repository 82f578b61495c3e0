// Measured times of tiles, each with what the tile model is told of it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "perf/model_check/tiles.hpp"

namespace weft::perf {

// A layer of a batch with an epilogue in a layout: what Dispatch chooses a tile for.
struct Timed {
  struct Tile {
    std::string name;
    bool in_family = false;
    const conv::TileFacts* facts = nullptr;
    gemm::PlanCounts counts;
    double us = 0.0;
  };
  std::string layer, layout, epilogue, device;
  int batch = 0;
  std::vector<Tile> tiles;

  // Whether the fit must not see the layer: a third of all, by a hash of the name, whatever its batch, its layout and
  // its epilogue are.
  bool HeldOut() const;
};

// Appends what a file holds: one of perf/results/tiles/, which perf/tile_times.py makes, or a result file of weft_perf;
// nothing if it is of another program. Tiles that perf/tiles.def no longer has are left out. InvalidArgument names
// the file, or a layer that is none.
absl::Status ReadTimes(const std::string& path, std::vector<Timed>* all);

}  // namespace weft::perf
