// What all parts of a staged store (staged_store.hpp) know of the tile: its rows and chunks, and
// which chunks a thread moves between shared and global memory.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/staged/staged_chunk.hpp"
#include "weft/gemm/staged/staged_pixels.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT has DstLayout, Epilogue (with outputs of one or two bytes) and config. OutputT is an
// OutputParams, MmaT the WgmmaSm90Mainloop.
template <class PolicyT, class OutputT, class MmaT>
struct StagedTile {
  using Policy = PolicyT;
  using Output = OutputT;
  using Mma = MmaT;
  using Map = typename Mma::Map;
  using Math = EpilogueMath<PolicyT, Output, 1>;
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  // Whether outputs have 8 bits; if not, they have 16.
  static constexpr bool kByteOutputs = sizeof(Element) == 1;
  static_assert(kByteOutputs || Mma::kHalves);
  using Pixels = StagedPixels<Mma>;
  static constexpr int kRows = Pixels::kRows, kPixels = Pixels::kCount;  // a warpgroup's
  static constexpr int kChunks = 4 * Mma::kBlocks;                       // chunks of a row
  using Chunks = StagedChunks<kChunks, Mma::kOrder>;
  using Chunk = typename Chunks::Chunk;
  // Bytes of one store; of outputs of one byte these are as many channels.
  static constexpr int kRun = PolicyT::config.alignment.dst;

  // A barrier of the warpgroup's 128 threads.
  WEFT_DEVICE static void Sync(arch::Thread t) { t.BarSync(1 + Map::Group(t), 128); }

  // The channels of a warpgroup, from `first` on. Those from `end` on are stored as zeros, those
  // from padded_end on not at all.
  struct ChannelSpan {
    std::int32_t first, end, padded_end;
  };

  // A thread's share of a warpgroup's chunks is chunk number `chunk` of every kStep-th row from
  // `row` on. Neighbouring threads take chunks that are adjacent in the destination, then
  // neighbouring rows.
  static constexpr int kTogether = Dst::kChannelRun == 0    ? Pixels::kChunks
                                   : Dst::kChannelRun >= 32 ? 2
                                                            : 1;
  static constexpr int kStep = 128 / kChunks;
  struct Mine {
    int chunk, row;
  };
  WEFT_DEVICE static Mine MineOf(arch::Thread t) {
    const int thread = t.tid() % 128, rest = thread / kTogether;
    return {rest / kStep * kTogether + thread % kTogether, rest % kStep};
  }
  // Calls visit(row) for each row of the share.
  template <class Visit>
  WEFT_DEVICE static void ForEachRow(const Mine& mine, const Visit& visit) {
    if (128 % kChunks != 0 && mine.chunk >= kChunks) return;
    WEFT_UNROLL
    for (int i = 0; i < kRows; i += kStep) {
      if (kRows % kStep == 0 || i + mine.row < kRows) visit(i + mine.row);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
