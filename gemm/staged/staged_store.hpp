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
// (staged_residual.hpp), the conversion of accumulators (staged_pair.hpp), auxiliary outputs
// (staged_auxiliary.hpp), and the stores of bytes to global memory (staged_write.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/staged/staged_auxiliary.hpp"
#include "weft/gemm/staged/staged_halves.hpp"
#include "weft/gemm/staged/staged_pair.hpp"
#include "weft/gemm/staged/staged_residual.hpp"
#include "weft/gemm/staged/staged_rows.hpp"
#include "weft/gemm/staged/staged_write.hpp"
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
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  using Pixels = typename Stage::Pixels;
  using Chunks = typename Stage::Chunks;
  using ChannelSpan = typename Stage::ChannelSpan;
  static constexpr bool kBytes = Stage::kBytes;
  static constexpr int kRows = Stage::kRows;

  using Residual = typename ResidualOf<Stage>::type;
  using Auxiliary = typename AuxiliaryOf<Stage>::type;
  // Whether 16-bit values are staged: copies beside outputs of one byte (kCopies), or the outputs.
  static constexpr bool kCopies = AuxiliaryOf<Stage>::kCopies;
  static constexpr bool kHalves = kCopies || !kBytes;
  // Channels of one store of 16-bit values: of a copy as many as of the output, as it is aligned to
  // as many elements.
  static constexpr int kHalvesOfRun = kCopies ? Stage::kRun : Stage::kRun / 2;
  using Halves = typename decltype([] {
    constexpr int kMost = kHalvesOfRun < 8 ? kHalvesOfRun : 8;
    if constexpr (kCopies) {
      using Copy = typename Epilogue::CopyStage::Element;
      return std::type_identity<StagedHalves<Dst, Copy, kMost, Mma>>();
    } else if constexpr (!kBytes) {
      return std::type_identity<StagedHalves<Dst, Element, kMost, Mma>>();
    } else {
      return std::type_identity<void>();
    }
  }())::type;
  using Rows = StagedRows<Stage, Halves>;
  using Pair = StagedPair<Stage, Residual, Auxiliary, Halves, kCopies>;

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

  // Starts to load the tile's residual. It is called before the mainloop, while operands are
  // loaded.
  template <class Tile>
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                std::int32_t first_m, std::int32_t first_n) {
    if constexpr (Residual::kStaged) {
      Sync(t);  // all threads have read the last tile's chunks, which are overwritten now
      Residual::Begin(t, shared, p, tile, first_m, first_n);
    }
  }

  // Works out what does not depend on the accumulators. It is called while the mainloop multiplies.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if constexpr (!Residual::kStaged) Sync(t);  // all threads have stored the last tile
    Rows::Prepare(t, shared, p, tile, first_m);
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
    if constexpr (Residual::kStaged) Residual::Await(t, shared);
    // After this barrier the warpgroup's residual may be read, and what Prepare has stored of the
    // pixels. Without either need, the barrier after the outputs are staged is enough.
    if constexpr (Residual::kStaged || Math::kTerms || AuxiliaryOf<Stage>::kPlaced || !kBytes)
      Sync(t);
    typename Math::Range ranges[Map::kGroups];
    WEFT_UNROLL
    for (auto& range : ranges) range.Clear();
    const ChannelSpan span = {first_k, end, padded_end};
    // Without an output zero point, ReLU, rounding and saturation are one instruction.
    if (!kBytes || p.zero_point == 0.0f) {
      Convert<false>(t, shared, p, tile, first_m, span, kept.channels, acc, ranges);
    } else if constexpr (kBytes) {
      Convert<true>(t, shared, p, tile, first_m, span, kept.channels, acc, ranges);
    }
    if constexpr (Epilogue::kHasRange) {
      const std::int32_t first = p.rows.FirstChannel(tile) + first_n;
      WriteRanges<Map::kSharingLanes>(t, p, ranges, end,
                                      [&](int g) { return first + Map::Channel(t, g); });
    }
    if constexpr (kBytes) {
      StagedWrite<Stage>::Run(t, shared, p, span);
    } else {
      Sync(
          t);  // otherwise ptxas takes the warps for divergent and serializes the next tile's wgmma
    }
  }

 private:
  // A barrier of the warpgroup's 128 threads.
  WEFT_DEVICE static void Sync(arch::Thread t) { t.BarSync(1 + Map::Group(t), 128); }

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
    std::uint32_t edges[CeilDiv(kRows, 32)] = {};
    FindEdges(t, shared, edges);
    // One stmatrix stores 4 matrices of 8 rows; lane l has the address of row l % 8 of matrix
    // l / 8. Where the tile's rows are no multiple of 32, the last ones take 2 matrices or 1.
    const auto stage = [&](auto matrices, int first, int x) {
      constexpr int kMatrices = matrices();
      const int row = 8 * first + t.lane() % (8 * kMatrices), chunk = 4 * x + t.warp() % 4;
      [[maybe_unused]] std::uint32_t place = 0;
      if constexpr (kBytes) {
        place = t.SharedAddress(shared.chunk[Map::Group(t)][Chunks::Place(row, chunk)]);
      }
      std::uint32_t words[kMatrices] = {};
      if constexpr (Residual::kStaged) t.template LdMatrixTrans<kMatrices>(words, place);
      [[maybe_unused]] std::uint32_t halves[2][kMatrices];
      WEFT_UNROLL
      for (int j = 0; j < kMatrices; ++j) {
        const bool edge = (edges[(first + j) / 4] >> (first + j) % 4 * 8 & 0xff) != 0;
        std::uint32_t half[2];
        words[j] = Pair::template Pack<kShift>(t, shared, p, tile, first_m, 2 * (first + j), x,
                                               edge, channels, words[j], acc, ranges, half);
        if constexpr (kHalves) halves[0][j] = half[0], halves[1][j] = half[1];
      }
      if constexpr (kBytes) t.template StMatrixTrans<kMatrices>(place, words);
      if constexpr (kHalves) {
        const std::int64_t* const offsets =
            shared.offset[Map::Group(t)] + Pixels::FirstOf(chunk) + 8 * first;
        Halves::Write(t, shared.halves, HalvesTo(p), p.extents, offsets, chunk,
                      span.first + Pixels::ChannelOf(chunk), span.end, span.padded_end, halves);
      }
    };
    constexpr int kAll = kRows / 8, kFours = kAll / 4 * 4;
    WEFT_UNROLL
    for (int x = 0; x < Mma::kBlocks; ++x) {
      if (Pixels::ChannelOf(4 * x + t.warp() % 4) >= span.padded_end - span.first) return;
      WEFT_UNROLL
      for (int i = 0; i < kFours; i += 4) stage(std::integral_constant<int, 4>(), i, x);
      if constexpr (kAll % 4 >= 2) stage(std::integral_constant<int, 2>(), kFours, x);
      if constexpr (kAll % 2 == 1) stage(std::integral_constant<int, 1>(), kAll - 1, x);
    }
  }

  // Sets a bit for each of the warpgroup's pixels that is at the border.
  template <int kWords>
  WEFT_DEVICE static void FindEdges(arch::Thread t, const Shared& shared,
                                    std::uint32_t (&edges)[kWords]) {
    if constexpr (Math::kEdges) {
      static_assert(Mma::kPackedRows == 1);  // one pixel to a row
      WEFT_UNROLL
      for (int i = 0; i < kRows; i += 32) {
        const int row = i + t.lane();
        edges[i / 32] =
            t.Ballot(row < kRows && t.LoadShared(&shared.terms[Map::Group(t)][row].edge) != 0);
      }
    }
  }

  // The tensor that the 16-bit values are stored in.
  WEFT_DEVICE static auto* HalvesTo(const Output& p) {
    if constexpr (kCopies) {
      return p.epilogue.template Get<typename Epilogue::CopyStage>().to;
    } else {
      return p.dst;
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
