// How the simt mainloop with cp.async divides a threadblock tile among warps and threads.
#pragma once

#include "weft/gemm/tile.hpp"

namespace weft::gemm {

// Derived from Owner::config (simt_config.hpp says what fits). kPacketBytes: of one float or
// double.
//
// The lanes of a warp form a kLanesM x kLanesN grid. A lane owns vectors of kVector adjacent
// columns, 16 bytes, in m and in n:
//   m = warp_m * kWarpM + (v * kLanesM + lane_m) * kVector + e,
//   n = warp_n * kWarpN + (v * kLanesN + lane_n) * kVector + e,   e < kVector,
// so that the vector v of neighbouring lanes is adjacent, in shared memory and in a row of C.
template <class Owner, int kPacketBytes>
struct SimtAsyncGeometry {
  static constexpr int kBlockM = Owner::config.threadblock.m;
  static constexpr int kBlockN = Owner::config.threadblock.n;
  static constexpr int kBlockK = Owner::config.threadblock.k;
  static constexpr int kWarpM = Owner::config.warp.m;
  static constexpr int kWarpN = Owner::config.warp.n;
  static constexpr int kThreadM = Owner::config.thread.m;
  static constexpr int kThreadN = Owner::config.thread.n;
  static constexpr int kStages = Owner::config.stages;

  static constexpr int kWarpsM = kBlockM / kWarpM;
  static constexpr int kWarpsN = kBlockN / kWarpN;
  static constexpr int kThreads = kWarpsM * kWarpsN * 32;
  static constexpr int kLanesM = kWarpM / kThreadM;
  static constexpr int kLanesN = kWarpN / kThreadN;
  static constexpr int kVector = 16 / kPacketBytes;
  static constexpr int kVectorsM = kThreadM / kVector;
  static constexpr int kVectorsN = kThreadN / kVector;

  // The position of a lane. Neighbours alternate in m and n: shared memory then serves half a
  // warp's 16-byte reads at once, of A (lanes l and l ^ 2 read the same) and of B (l, l ^ 1).
  static constexpr int LaneM(int lane) {
    if constexpr (kLanesM > 1 && kLanesN > 1) {
      return lane % 2 + lane / 4 % (kLanesM / 2) * 2;
    } else {
      return lane % kLanesM;
    }
  }
  static constexpr int LaneN(int lane) {
    if constexpr (kLanesM > 1 && kLanesN > 1) {
      return lane / 2 % 2 + lane / (2 * kLanesM) * 2;
    } else {
      return lane / kLanesM;
    }
  }

  // A lane's first column in the threadblock tile.
  static constexpr int FirstM(int warp, int lane) {
    return warp % kWarpsM * kWarpM + LaneM(lane) * kVector;
  }
  static constexpr int FirstN(int warp, int lane) {
    return warp / kWarpsM * kWarpN + LaneN(lane) * kVector;
  }

  // Words of a thread's sums and of the two steps of k that it holds.
  static constexpr int kSums = kThreadM * kThreadN * (kPacketBytes / 4);
  static constexpr int kFragments = 2 * (kThreadM + kThreadN) * (kPacketBytes / 4);
  // Registers that a thread needs without spilling, found by compiling (ptxas reports; a spill
  // fails the build), and the blocks that then fit on a multiprocessor.
  static constexpr int kRegisters = kSums + kFragments <= 96 ? 128 : 255;
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * kThreads) < 1 ? 1 : 65536 / (kRegisters * kThreads);
};

}  // namespace weft::gemm
