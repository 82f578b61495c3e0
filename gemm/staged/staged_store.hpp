// The second half of an epilogue for wgmma products with outputs of 8 or 16 bits. A thread holds
// single channels of pairs of pixels there, so outputs go to global memory through shared memory:
// those of 16 bits in pieces of one warp (staged_halves.hpp), bytes a whole tile at a time, as
// follows.
//
// A staged tile is a matrix of 16-byte chunks, pixels by chunks of 16 channels. stmatrix writes the
// chunks: two channels of a pixel make one of its 16-bit elements, so that a chunk holds columns 0
// and 8 of its sixteen, then 1 and 9, and so on. The thread that reads a chunk puts the channels in
// order, unless they are already (ColumnOrder::kPaired), and stores them; neighbouring threads
// store neighbouring bytes of the destination. A residual of bytes takes the opposite way: cp.async
// loads its chunks while the mainloop multiplies, and ldmatrix hands them to the threads.
//
// The parts are: what is kept of the tile's pixels (staged_rows.hpp), the residual
// (staged_residual.hpp), zero points (staged_zero_points.hpp), the conversion of accumulators
// (staged_pair.hpp), auxiliary outputs (staged_auxiliary.hpp), and the stores of bytes
// (staged_bytes.hpp) and of 16-bit values (staged_values.hpp). Each has its Absent,
// for an epilogue that is without it, in the same file.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/staged/staged_auxiliary.hpp"
#include "weft/gemm/staged/staged_bytes.hpp"
#include "weft/gemm/staged/staged_pair.hpp"
#include "weft/gemm/staged/staged_residual.hpp"
#include "weft/gemm/staged/staged_rows.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/staged/staged_values.hpp"
#include "weft/gemm/staged/staged_zero_points.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT has DstLayout, Epilogue (with outputs of one or two bytes) and config. Output is an
// OutputParams, Mma the WgmmaSm90Mainloop.
template <class PolicyT, class Output, class Mma>
class StagedStore : public EpilogueTraits {
  using Stage = StagedTile<PolicyT, Output, Mma>;
  using Map = typename Mma::Map;
  using Math = typename Stage::Math;
  using ChannelSpan = typename Stage::ChannelSpan;
  using Residual = typename ResidualOf<Stage>::type;
  using Bytes = StagedBytesOf<Stage>;
  using Rows = StagedRows<Stage>;
  static constexpr bool kByteOutputs = Stage::kByteOutputs;

 public:
  static constexpr bool kStaged = true, kDependent = true;
  using Shared = typename Rows::Shared;
  // What a thread keeps from one tile to the next: the values of its channels, which are loaded
  // again only when the channels change.
  struct Kept {
    // These identify the channels; where the tile's channels end need not be compared. A channel
    // group's columns reach past its last channel only where the destination has zero channels
    // there, fewer than a tile, so that no two groups share a first_k.
    std::int32_t first_k = -1, values = 0;
    typename Math::Channels channels[Map::kGroups];
  };

  // Starts to load the tile's residual, when all threads have stored the last tile. It is called
  // before the mainloop, while operands are loaded.
  template <class Tile>
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                std::int32_t first_m, std::int32_t first_n) {
    if constexpr (Residual::kStaged) Stage::Sync(t);
    if constexpr (Residual::kAtOutputs) {
      Rows::Prepare(t, shared, p, tile, first_m);
      Stage::Sync(t);
    }
    Residual::Begin(t, shared, p, tile, first_m, first_n);
  }

  // Works out what does not depend on the accumulators. It is called while the mainloop multiplies.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if constexpr (!Residual::kStaged) Stage::Sync(t);  // all threads have stored the last tile
    if constexpr (!Residual::kAtOutputs) Rows::Prepare(t, shared, p, tile, first_m);
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n;
    const std::int32_t values = p.rows.ValueOffset(tile);
    if (first_k != kept.first_k || values != kept.values) {
      kept.first_k = first_k;
      kept.values = values;
      WEFT_UNROLL
      for (int g = 0; g < Map::kGroups; ++g) {
        Math::Fetch(t, p, first_k + Map::Channel(t, g), p.rows.EndChannel(tile, p.k),
                    kept.channels[g], values);
      }
    }
  }

  // Stores the outputs of a tile, as DirectStore::Run does; all threads of the consumer warpgroups
  // call it.
  template <class Tile>
  WEFT_DEVICE static void Run(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n, Kept& kept,
                              const typename Map::Accumulators& acc) {
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t padded_end = end == p.k ? p.padded_k : end;
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n + Map::FirstChannel(t);
    Residual::Await(t, shared);
    // After this barrier the warpgroup's residual may be read, and what Prepare has stored of the
    // pixels. Without either need, the barrier after the outputs are staged is enough.
    if constexpr (Residual::kStaged || Math::kTerms || AuxiliaryOf<Stage>::kPlaced ||
                  !kByteOutputs) {
      Stage::Sync(t);
    }
    typename Math::Range ranges[Map::kGroups];
    WEFT_UNROLL
    for (auto& range : ranges) range.Clear();
    const ChannelSpan span = {first_k, end, padded_end};
    // Without an output zero point, ReLU, rounding and saturation are one instruction.
    if (!kByteOutputs || p.zero_point == 0.0f) {
      Convert<false>(t, shared, p, tile, first_m, span, kept.channels, acc, ranges);
    } else if constexpr (kByteOutputs) {
      Convert<true>(t, shared, p, tile, first_m, span, kept.channels, acc, ranges);
    }
    const std::int32_t first = p.rows.FirstChannel(tile) + first_n;
    WriteRanges<Map::kSharingLanes>(t, p, ranges, end,
                                    [&](int g) { return first + Map::Channel(t, g); });
    Bytes::Run(t, shared, p, span);
  }

 private:
  // Converts all accumulators of the thread. Bytes end in their places in shared memory, 16-bit
  // values in global memory.
  template <bool kShift, class Tile>
  WEFT_DEVICE static void Convert(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, const ChannelSpan& span,
                                  typename Math::Channels (&channels)[Map::kGroups],
                                  const typename Map::Accumulators& acc,
                                  typename Math::Range (&ranges)[Map::kGroups]) {
    WEFT_UNROLL
    for (auto& c : channels) Math::Finish(p, c);
    const auto border = StagedCorrectionsOf<Stage>::FindBorder(t, shared);
    // One stmatrix stores 4 matrices of 8 rows; lane l has the address of row l % 8 of matrix
    // l / 8. Where the tile's rows are no multiple of 32, the last ones take 2 matrices or 1.
    const auto stage = [&](auto matrices, int first, int x) {
      constexpr int kMatrices = matrices();
      const int row = 8 * first + t.lane() % (8 * kMatrices), chunk = 4 * x + t.warp() % 4;
      const std::uint32_t place = Bytes::Place(t, shared, row, chunk);
      std::uint32_t words[kMatrices] = {}, halves[2][kMatrices];
      Residual::Read(t, place, words);
      WEFT_UNROLL
      for (int j = 0; j < kMatrices; ++j) {
        std::uint32_t half[2] = {};
        words[j] = StagedPair<Stage>::template Pack<kShift>(
            t, shared, p, tile, first_m, 2 * (first + j), x, border.AnyOfEight(first + j), channels,
            words[j], acc, ranges, half);
        halves[0][j] = half[0], halves[1][j] = half[1];
      }
      Bytes::Stage(t, place, words);
      StagedValuesOf<Stage>::Write(t, shared, p, chunk, first, span, halves);
    };
    constexpr int kAll = Stage::kRows / 8, kFours = kAll / 4 * 4;
    WEFT_UNROLL
    for (int x = 0; x < Mma::kBlocks; ++x) {
      const int chunk = 4 * x + t.warp() % 4;
      if (Stage::Pixels::ChannelOf(chunk) >= span.padded_end - span.first) return;
      WEFT_UNROLL
      for (int i = 0; i < kFours; i += 4) stage(std::integral_constant<int, 4>(), i, x);
      if constexpr (kAll % 4 >= 2) stage(std::integral_constant<int, 2>(), kFours, x);
      if constexpr (kAll % 2 == 1) stage(std::integral_constant<int, 1>(), kAll - 1, x);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
