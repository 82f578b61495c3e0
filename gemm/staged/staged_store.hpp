// The second half of an epilogue for warpgroup products whose outputs are bytes or of 16 bits: through shared
// memory, since a thread holds single channels of pairs of pixels there. Those of 16 bits a warp's at a time
// (staged_halves.hpp); bytes a tile's:
//
// A staged tile is a matrix of 16-byte chunks, pixels by chunks of 16 channels. stmatrix writes
// them: a chunk holds column 0 and 8 of its sixteen, then 1 and 9, and so on, as two channels of a
// pixel make one of its 16-bit elements. Who reads a chunk puts the channels in order, unless the columns
// are such that they are (ColumnOrder::kPaired), and stores them, neighbouring threads neighbouring bytes of
// the destination. A residual of bytes takes the
// way back: asynchronous copies load its chunks while the mainloop multiplies, and ldmatrix hands
// them out.
//
// The parts: what is kept of the tile's pixels (staged_rows.hpp), how the residual comes (staged_residual.hpp), from
// accumulators to outputs (staged_pair.hpp), auxiliary outputs them (staged_auxiliary.hpp), and the way of bytes to
// global memory (staged_write.hpp).
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

// PolicyT: DstLayout, Epilogue (with outputs of one or two bytes), config. Output: an OutputParams. Mma: the
// WgmmaSm90Mainloop.
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
  // Values of 16 bits: copies beside bytes, or the outputs.
  static constexpr bool kCopies = AuxiliaryOf<Stage>::kCopies;
  static constexpr bool kHalves = kCopies || !kBytes;
  // Channels of one store of them: of a copy as many as of the output's, whose alignment in elements it has.
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
  // What a thread keeps from one tile to the next.
  struct Kept {
    // Whose channels these are: a group's columns reach past its last channel only where the
    // destination has zero channels there, fewer than a tile, so that no two groups share it.
    std::int32_t first_k = -1, values = 0;
    typename Math::Channels channels[Map::kGroups];
  };

  // Before the tile's products, while their operands are on their way: starts to load its residual.
  template <class Tile>
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                std::int32_t first_m, std::int32_t first_n) {
    if constexpr (Residual::kStaged) {
      Sync(t);  // the chunks take the place of the last tile's
      Residual::Begin(t, shared, p, tile, first_m, first_n);
    }
  }

  // While products run: works out what does not depend on the accumulators.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if constexpr (!Residual::kStaged) Sync(t);  // the last tile is stored
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

  // As DirectStore::Run; by all threads of the warpgroups that multiply.
  template <class Tile>
  WEFT_DEVICE static void Run(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n, Kept& kept,
                              const typename Map::Accumulators& acc) {
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t padded_end = end == p.k ? p.padded_k : end;
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n + Map::FirstChannel(t);
    if constexpr (Residual::kStaged) Residual::Await(t, shared);
    // Behind this the residual is there, and so is what Prepare has found of the pixels, if anybody reads it before
    // the outputs are staged.
    if constexpr (Residual::kStaged || Math::kTerms || AuxiliaryOf<Stage>::kPlaced || !kBytes)
      Sync(t);
    typename Math::Range ranges[Map::kGroups];
    WEFT_UNROLL
    for (auto& range : ranges) range.Clear();
    const ChannelSpan span = {first_k, end, padded_end};
    // Without a zero point ReLU, rounding and saturation are one instruction.
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
          t);  // or ptxas takes the warps for divergent, and makes the next tile's products one by one
    }
  }

 private:
  // Of the warpgroup.
  WEFT_DEVICE static void Sync(arch::Thread t) { t.BarSync(1 + Map::Group(t), 128); }

  // All accumulators of the thread to outputs: bytes to their places in shared memory, values of 16 bits through it to
  // global memory.
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
    // 4 matrices of 8 rows at once: lane l says where row l % 8 of the l / 8-th is. Tiles whose
    // rows are no multiple of 32 end in two or one.
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

  // Which of the group's pixels are at the border, a bit each.
  template <int kWords>
  WEFT_DEVICE static void FindEdges(arch::Thread t, const Shared& shared,
                                    std::uint32_t (&edges)[kWords]) {
    if constexpr (Math::kEdges) {
      static_assert(Mma::kPackedRows == 1);  // a row has one
      WEFT_UNROLL
      for (int i = 0; i < kRows; i += 32) {
        const int row = i + t.lane();
        edges[i / 32] =
            t.Ballot(row < kRows && t.LoadShared(&shared.terms[Map::Group(t)][row].edge) != 0);
      }
    }
  }

  // Where the values of 16 bits go.
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
