// A model of how long a simt convolution takes with a given tile, good enough to choose one without
// measuring.
//
// It counts the waves of blocks and, for each, the slower of the arithmetic that the
// multiprocessor's blocks share and the latency that one block cannot hide. Its constants are
// estimates for Hopper, to be corrected by measurements (perf/results/); docs/performance.md says
// how well it chooses.
#pragma once

#include <algorithm>
#include <vector>

#include "weft/conv/problem.hpp"
#include "weft/gemm/simt_geometry.hpp"
#include "weft/gemm/tile.hpp"

namespace weft::perf {

struct TileFacts {
  gemm::TileShape threadblock;
  gemm::TileShape thread;
  int threads = 0;        // of a block
  int blocks_per_sm = 0;  // that fit on a multiprocessor together
};

struct GpuFacts {
  int multiprocessors = 132;
  double clock_mhz = 1980.0;
  double bytes_per_us = 4.3e6;
};

// The facts of policy P.
template <class P>
constexpr TileFacts FactsOf() {
  using G = gemm::SimtGeometry<P>;
  constexpr int kSharedPerSm = 228 * 1024;  // of Hopper; 1 KB of each block's is the system's
  constexpr int kShared = P::config.stages * G::kBlockK * (G::kBlockM + G::kBlockN) + 1024;
  constexpr int kBlocks =
      std::min({G::kMinBlocksPerSm, kSharedPerSm / kShared, 2048 / G::kThreads});
  return {P::config.threadblock, P::config.thread, G::kThreads, kBlocks};
}

double PredictMicroseconds(const conv::Problem& problem, const TileFacts& tile,
                           const GpuFacts& gpu);

// The index of the tile with the least prediction; `tiles` is not empty.
int ChooseTile(const conv::Problem& problem, const std::vector<TileFacts>& tiles,
               const GpuFacts& gpu);

}  // namespace weft::perf
