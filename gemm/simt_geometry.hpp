// How the simt mainloop divides a threadblock tile among warps and threads.
#pragma once

#include <cstdint>

#include "weft/gemm/tile.hpp"

namespace weft::gemm {

// Derived from Owner::config (threadblock, warp and thread tiles; conv::Config says what fits).
//
// The lanes of a warp form a kLanesM x kLanesN grid, m fastest for int8. A lane owns
//   columns m = warp_m * kWarpM + lane_m + kLanesM * i, i < kThreadM   (strided), and
//   columns n = warp_n * kWarpN + lane_n * kThreadN + j, j < kThreadN  (adjacent):
// neighbouring lanes hold neighbouring pixels, and one lane holds adjacent channels, which is what
// makes the stores of every output format whole 32-byte sectors.
//
// Where config.warp.k is less than config.threadblock.k, kWarpsK warps share each warp tile, every
// one multiplying its part of the slice ("sliced k"): more threads for a small output.
//
// kPacketBytes: what one step of k is of a row or column: four int8, one float or one double.
template <class Owner, int kPacketBytes = 4>
struct SimtGeometry {
  static constexpr int kBlockM = Owner::config.threadblock.m;
  static constexpr int kBlockN = Owner::config.threadblock.n;
  static constexpr int kBlockK = Owner::config.threadblock.k;
  static constexpr int kWarpM = Owner::config.warp.m;
  static constexpr int kWarpN = Owner::config.warp.n;
  static constexpr int kThreadM = Owner::config.thread.m;
  static constexpr int kThreadN = Owner::config.thread.n;
  static constexpr int kPacketElements = Owner::config.thread.k;  // elements of one packet
  static constexpr int kPackets = kBlockK / kPacketElements;      // steps of one k slice

  static constexpr int kWarpsM = kBlockM / kWarpM;
  static constexpr int kWarpsN = kBlockN / kWarpN;
  static constexpr int kWarpsK = kBlockK / Owner::config.warp.k;
  static constexpr int kWarpPackets = kPackets / kWarpsK;
  static constexpr int kGroupThreads = kWarpsM * kWarpsN * 32;  // of one part of the slice
  static constexpr int kThreads = kGroupThreads * kWarpsK;
  static constexpr int kLanesM = kWarpM / kThreadM;
  static constexpr int kLanesN = kWarpN / kThreadN;

  // The position of a lane. For floats neighbours alternate in m and n: shared memory then serves
  // half a warp's 16-byte reads at once, of A (lanes l and l ^ 2 read the same) and of B (l, l ^
  // 1).
  static constexpr int LaneM(int lane) {
    if constexpr (kPacketElements == 1 && kLanesM > 1 && kLanesN > 1) {
      return lane % 2 + lane / 4 % (kLanesM / 2) * 2;
    } else {
      return lane % kLanesM;
    }
  }
  static constexpr int LaneN(int lane) {
    if constexpr (kPacketElements == 1 && kLanesM > 1 && kLanesN > 1) {
      return lane / 2 % 2 + lane / (2 * kLanesM) * 2;
    } else {
      return lane / kLanesM;
    }
  }

  // The position of a warp: m fastest, then n, then k.
  static constexpr int WarpM(int warp) { return warp % kWarpsM; }
  static constexpr int WarpN(int warp) { return warp / kWarpsM % kWarpsN; }
  static constexpr int WarpK(int warp) { return warp / (kWarpsM * kWarpsN); }

  // Packets of A and of B that a thread reads from shared memory at once.
  static constexpr int kLongestVector = 16 / kPacketBytes;
  static constexpr int kVectorM = kThreadM < kLongestVector ? kThreadM : kLongestVector;
  static constexpr int kVectorN = kLongestVector;

  // Words of one k slice that a thread holds on their way to shared memory, and those of its sums.
  static constexpr int kStagedPackets =
      (CeilDiv(kPackets * kBlockM, kThreads) + CeilDiv(kPackets * kBlockN, kThreads)) *
      (kPacketBytes / 4);
  static constexpr int kSums = kThreadM * kThreadN * (kPacketBytes / 4);

  // Registers that a thread needs without spilling, found by compiling (ptxas reports; a spill
  // fails the build), and the blocks that then fit on a multiprocessor.
  static constexpr int kRegisters = kSums > 64 || kPacketBytes == 8 ? 232
                                    : kPacketElements == 1 ? (kStagedPackets <= 12 ? 128 : 168)
                                    : kSums < 64           ? (kStagedPackets <= 12 ? 96 : 128)
                                    : kStagedPackets <= 8  ? 128
                                    : kStagedPackets <= 16 ? 160
                                                           : 168;
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * kThreads) < 1 ? 1 : 65536 / (kRegisters * kThreads);
};

}  // namespace weft::gemm
