#include "perf/support/tile_model.hpp"

#include <algorithm>
#include <cmath>

#include "perf/support/floor.hpp"

namespace weft::perf {
namespace {

constexpr double kLanesPerClock = 128.0;  // instruction lanes of a multiprocessor
constexpr double kDp4aPerClock = 64.0;
constexpr double kLoadLatency = 700.0;   // clocks from a global load to its store in shared memory
constexpr double kStartAndEnd = 2500.0;  // clocks of a block outside its main loop
constexpr double kLaunch = 1.5;          // microseconds
constexpr double kWarpsForFullRate = 8.0;

// Clocks of one k slice if `blocks` blocks share a multiprocessor.
double SliceClocks(const TileFacts& tile, bool pointwise, int blocks) {
  const gemm::TileShape& t = tile.threadblock;
  const double packets = t.k / 4;
  const double dp4a = t.m * t.n * packets;
  // Shared-memory loads and loop overhead per dp4a shrink as the thread's tile grows.
  const double arithmetic = dp4a / kDp4aPerClock * (1.1 + 6.0 / (tile.thread.m * tile.thread.n));
  const double gather = t.m * packets * (pointwise ? 3.0 : 12.0) / kLanesPerClock;
  const double filter = t.n * packets * 2.0 / kLanesPerClock;
  const double one = arithmetic + gather + filter;
  const double warps = blocks * tile.threads / 32.0;
  const double shared = blocks * one / std::min(1.0, warps / kWarpsForFullRate);
  return std::max(shared, std::max(one, kLoadLatency) + 100.0);
}

}  // namespace

double PredictMicroseconds(const conv::Problem& problem, const TileFacts& tile,
                           const GpuFacts& gpu) {
  const gemm::TileShape& t = tile.threadblock;
  const bool pointwise =
      problem.r == 1 && problem.s == 1 && problem.pad_top == 0 && problem.pad_left == 0;
  const double tiles_m = std::ceil(problem.n * problem.p() * problem.q() / double(t.m));
  const double tiles_n = std::ceil(problem.k / double(t.n));
  const double depth = RoundUp(problem.c, 4) * problem.r * problem.s;
  const double slices = std::ceil(depth / t.k);
  const double epilogue = t.m * t.n * 15.0 / kLanesPerClock;

  const double per_sm = std::ceil(tiles_m * tiles_n / gpu.multiprocessors);
  const double full_waves = std::floor(per_sm / tile.blocks_per_sm);
  const int rest = static_cast<int>(per_sm - full_waves * tile.blocks_per_sm);
  const auto wave = [&](int blocks) {
    return kStartAndEnd + slices * SliceClocks(tile, pointwise, blocks) + blocks * epilogue;
  };
  double clocks = full_waves * wave(tile.blocks_per_sm);
  if (rest > 0) clocks += wave(rest);
  return kLaunch + std::max(clocks / gpu.clock_mhz, Nc4Bytes(problem) / gpu.bytes_per_us);
}

int ChooseTile(const conv::Problem& problem, const std::vector<TileFacts>& tiles,
               const GpuFacts& gpu) {
  int best = 0;
  double least = 0.0;
  for (int i = 0; i < static_cast<int>(tiles.size()); ++i) {
    const double time = PredictMicroseconds(problem, tiles[i], gpu);
    if (i == 0 || time < least) {
      best = i;
      least = time;
    }
  }
  return best;
}

}  // namespace weft::perf
