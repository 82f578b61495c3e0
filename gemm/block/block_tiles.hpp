// How the extents of a Block's product are divided among warps, for each kind of mainloop.
#pragma once

#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm::internal {

// How a product is divided among warps; its extents are rounded up to multiples of a warp's tile.
struct BlockTiles {
  TileShape block, warp, thread;  // thread: simt and simt_async only. Their k is that of a k tile
  int warps = 0;                  // warps that multiply; 0: no division was found
  int sums = 0;                   // accumulators of a thread
};

// Bytes of k of a k tile: 128, 64 or 32 (LineMajor), the longest that divide k, rounded up to 32
// bytes.
constexpr int MmaKTileBytes(int k_bytes) {
  const int groups = CeilDiv(k_bytes, 32);
  return groups % 4 == 0 ? 128 : groups % 2 == 0 ? 64 : 32;
}

// Divides a product among at most `warps` warps for mma, so that each has the fewest accumulators,
// and of such divisions the one in which a warp loads the least from shared memory.
constexpr BlockTiles MmaTiles(TileShape shape, int element_bytes, int warps, bool whole_rows) {
  BlockTiles best;
  int best_reads = 0;
  const int k = MmaKTileBytes(shape.k * element_bytes) / element_bytes;
  for (int wm = 1; wm <= warps; ++wm) {
    const int m = RoundUp(CeilDiv(shape.m, wm), 16);
    if (m * (wm - 1) >= shape.m) continue;  // a warp without work
    for (int wn = 1; wn <= (whole_rows ? 1 : warps / wm); ++wn) {
      const int n = RoundUp(CeilDiv(shape.n, wn), 16);
      if (n * (wn - 1) >= shape.n) continue;
      const int sums = m * n / 32, reads = m + n;
      if (best.warps > 0 && (sums > best.sums || (sums == best.sums && reads >= best_reads))) {
        continue;
      }
      best = {{m * wm, n * wn, k}, {m, n, k}, {}, wm * wn, sums};
      best_reads = reads;
    }
  }
  return best;
}

// The same for wgmma and at most `groups` warpgroups, each with a multiple of 64 rows
// (block_wgmma.hpp) and a legal N of wgmma, which for bytes is a multiple of 16, as kRun = 4
// requires. `warp` in the result is one warp's part of its warpgroup's tile.
constexpr BlockTiles WgmmaTiles(TileShape shape, int element_bytes, int groups, bool whole_rows) {
  BlockTiles best;
  int best_reads = 0;
  const int k = MmaKTileBytes(shape.k * element_bytes) / element_bytes;
  for (int wm = 1; wm <= groups && 64 * (wm - 1) < shape.m; ++wm) {
    const int blocks = CeilDiv(CeilDiv(shape.m, 64), wm);
    for (int wn = 1; wn <= (whole_rows ? 1 : groups / wm); ++wn) {
      const int columns = CeilDiv(shape.n, wn);
      const int n = RoundUp(columns, element_bytes == 1 || columns > 32 ? 16 : 8);
      if (n * (wn - 1) >= shape.n || !arch::IsWgmmaN(n)) continue;
      const int sums = blocks * n / 2, reads = blocks * 64 + n;
      if (best.warps > 0 && (sums > best.sums || (sums == best.sums && reads >= best_reads))) {
        continue;
      }
      best = {{64 * blocks * wm, n * wn, k}, {16 * blocks, n, k}, {}, 4 * wm * wn, sums};
      best_reads = reads;
    }
  }
  return best;
}

// The tiles of one lane that the simt mainloops are compiled for.
struct LaneSums {
  int group;   // elements of k that one instruction multiplies
  int vector;  // simt_async: elements of a 16-byte vector; 0: simt

  // SimtMainloop has m = 2, 4 or 8 and n = 4 or 8; simt_async has up to 4 vectors each way, and
  // accumulators of at most 128 registers.
  constexpr bool Has(int m, int n) const {
    if (vector > 0) {
      return m % vector == 0 && n % vector == 0 && m <= 4 * vector && n <= 4 * vector &&
             m * n * 4 <= 128 * vector;
    }
    return (m == 2 || m == 4 || m == 8) && (n == 4 || n == 8);
  }
  constexpr int KTileGroups(int groups) const {
    return vector > 0 ? (RoundUp(groups, 8) % 16 == 0 ? 16 : 8)
                      : (RoundUp(groups, 4) % 8 == 0 ? 8 : 4);
  }
  // Whether so many threads can divide the loads of a k tile of `rows` rows (simt only).
  constexpr bool MayLoad(int threads, int rows, int groups) const {
    return vector > 0 || rows % threads == 0 ||
           (threads % rows == 0 && groups * rows % threads == 0);
  }
};

// The same for the simt mainloops, in which a lane has m x n accumulators: first the fewest
// accumulators, then the least padding, then the fewest loads from shared memory.
constexpr BlockTiles SimtTiles(TileShape shape, LaneSums lane, int warps, bool whole_rows) {
  BlockTiles best;
  int best_area = 0, best_reads = 0;
  const int groups = lane.KTileGroups(CeilDiv(shape.k, lane.group));
  for (int lanes_m = 1; lanes_m <= 32; lanes_m *= 2) {
    for (int m = 2; m <= 16; m += 2) {
      for (int n = 2; n <= 16; n += 2) {
        if (!lane.Has(m, n)) continue;
        const TileShape warp{lanes_m * m, 32 / lanes_m * n, groups * lane.group};
        const int wm = CeilDiv(shape.m, warp.m), wn = CeilDiv(shape.n, warp.n);
        if (wm * wn > warps || (whole_rows && wn > 1)) continue;
        const int block_m = wm * warp.m, threads = wm * wn * 32;
        if (!lane.MayLoad(threads, block_m, groups)) continue;
        const int sums = m * n, area = block_m * wn * warp.n;
        const int reads = (m + n) * 1024 + warp.m + warp.n;  // a lane's first, then a warp's
        const bool better = best.warps == 0 || sums < best.sums ||
                            (sums == best.sums && area < best_area) ||
                            (sums == best.sums && area == best_area && reads < best_reads);
        if (!better) continue;
        best = {{block_m, wn * warp.n, warp.k}, warp, {m, n, lane.group}, wm * wn, sums};
        best_area = area, best_reads = reads;
      }
    }
  }
  return best;
}

}  // namespace weft::gemm::internal
