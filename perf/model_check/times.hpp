// Measured times of tiles, each with what the tile model is told of it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "perf/model_check/tiles.hpp"
#include "weft/gemm/choose/tile_model_parts.hpp"

namespace weft::perf {

// A layer of a batch with an epilogue in a layout: what Dispatch chooses a tile for.
struct Timed {
  struct Tile {
    std::string name;
    bool in_family = false, in_small = false;
    const gemm::TileFacts* facts = nullptr;
    gemm::PlanCounts counts;
    double fixed =
        0.0;  // what the model predicts, where no fitted constant counts: of depthwise tiles
    double us = 0.0;

    // Microseconds that the model predicts with these constants.
    double Predict(const gemm::GpuFacts& gpu,
                   const gemm::internal::ModelConstants& constants) const {
      if (facts->config.mainloop == gemm::Mainloop::kOther) return fixed;
      return gemm::internal::Predict(counts, *facts, gpu, constants).microseconds;
    }
  };
  std::string file, layer, layout, epilogue, device;  // file: its path
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
