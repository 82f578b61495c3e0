// The second half of an epilogue with a MaxPool, for wgmma products of a first layer
// (conv/hopper/sliding_window_operands.hpp): of the outputs of a tile only the greatest of each window
// are staged and stored.
//
// A thread has the outputs of two columns and two channels in all output rows of its warpgroup's
// window of the source. It pools them over the rows in registers (pooled_rows.hpp); the last row of a
// tile belongs to the first window of the tile below, too, which its block multiplies next. The pooled rows
// are staged as in a StagedStore. The columns of a place lie by parity with the warpgroups that share
// it: when all of these have staged, each thread takes the greatest of the chunks of a window's columns
// and stores it. Tiles stage in two buffers in turn, so that one barrier a tile is enough.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/byte_maxima.hpp"
#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/staged/pooled_rows.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/staged/staged_zero_points.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT has DstLayout, Epilogue (with a MaxPool) and config. Output is an OutputParams whose rows are
// a conv::SlidingWindowMap of strips, Mma the WgmmaSm90Mainloop.
template <class PolicyT, class Output, class Mma>
class PooledStore : public EpilogueTraits {
  using Stage = StagedTile<PolicyT, Output, Mma>;
  using Map = typename Mma::Map;
  using Math = typename Stage::Math;
  using Element = typename Stage::Element;
  using Chunks = typename Stage::Chunks;
  using Chunk = typename Stage::Chunk;
  using ChannelSpan = typename Stage::ChannelSpan;
  using Corrections = StagedCorrectionsOf<Stage>;
  using Maxima = ByteMaxima<Element>;
  using Pool = typename PolicyT::Epilogue::PoolStage;
  using Windows = typename Output::Rows::Windows;
  using Rows = PooledRows<Stage, Pool::kSize>;
  static_assert(Mma::kGroupsN == 1 && Stage::Pixels::kPackedRows == 1,
                "weft: a MaxPool takes a tile whose config.warp.n is config.threadblock.n");
  static_assert(Chunks::kInOrder && Pool::kStep == 2);
  // Of a warpgroup: output rows of 8 columns, and pooled ones.
  static constexpr int kRows = Stage::kRows / 8, kPooledRows = kRows / 2;
  static constexpr int kChunks = Stage::kChunks;
  static_assert(kRows % 2 == 0,
                "weft: a MaxPool takes a tile whose config.warp.m is a multiple of 16");

  struct Places {
    alignas(128) std::uint8_t chunk[2][Mma::kGroups][kPooledRows * 8 * kChunks][16];
  };
  struct WithTerms : Places {
    alignas(16) typename Math::PixelTerms terms[Mma::kGroups][Stage::kPixels];
  };
  static constexpr int kGroupBytes = kPooledRows * 8 * kChunks * 16,
                       kBufferBytes = Mma::kGroups * kGroupBytes;
  // What the thread stores of a strip: of every kStep-th pooled row a chunk of one pixel.
  struct Target {
    Element* to;       // where it would go in row 0
    std::int32_t row;  // the tile's first one
    std::uint32_t
        from[Pool::kSize];  // where the tile's first one is staged, by columns of its window
  };
  static constexpr int kStep = 32 / kChunks;

 public:
  static constexpr bool kStaged = true, kDependent = true, kCarries = true;
  struct Shared : std::conditional_t<Math::kTerms, WithTerms, Places> {};
  // What a thread keeps from one tile to the next: the values of its channels (StagedStore::Kept), the
  // last output row of the tile, what it stores of the strip, and the buffer to stage in.
  struct Kept {
    std::int32_t first_k = -1, values = 0;
    typename Math::Channels channels[Map::kGroups];
    typename Rows::Above above[Mma::kBlocks];
    Target target;
    int buffer = 0;
  };

  template <class Tile>
  WEFT_DEVICE static void Begin(arch::Thread, Shared&, const Output&, const Tile&, std::int32_t,
                                std::int32_t) {}

  // Works out what does not depend on the accumulators. It is called while the mainloop multiplies. All
  // threads of the warpgroup have read the last tile's terms: they met when they had staged it.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t, std::int32_t first_n, Kept& kept) {
    if constexpr (Math::kTerms) {
      const auto first = Windows::First(p.rows, tile, tile.m, t.WarpUniform(Map::Group(t)));
      WEFT_UNROLL
      for (int i = 0; i < Stage::kPixels; i += 128) {
        const int number = i + t.tid() % 128;
        auto at = first;
        at.p += number / 8, at.q += (number % 8) << p.rows.parity_bits;
        at.inside = static_cast<std::uint32_t>(at.p) < static_cast<std::uint32_t>(p.rows.p) &&
                    static_cast<std::uint32_t>(at.q) < static_cast<std::uint32_t>(p.rows.q);
        typename Math::PixelTerms terms;
        if constexpr (Math::kFilterZeroPoint) {
          terms = Math::TermsOf(t, p, tile, p.rows.PixelAt(at));
        } else {
          terms = Math::TermsAt(t, p, at.p, at.q, at.inside);
        }
        if (number < Stage::kPixels) shared.terms[Map::Group(t)][number] = terms;
      }
    }
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

  template <class Tile>
  WEFT_DEVICE static void Run(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n, Kept& kept,
                              const typename Map::Accumulators& acc) {
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t padded_end = end == p.k ? p.padded_k : end;
    const ChannelSpan span = {p.rows.FirstChannel(tile) + first_n, end, padded_end};
    const int group = t.WarpUniform(Map::Group(t));
    // After this barrier the warpgroup's terms may be read.
    if constexpr (Math::kTerms) Stage::Sync(t);
    if (p.zero_point == 0.0f) {
      Convert<false>(t, shared, p, tile, first_m, group, span, kept, acc);
    } else {
      Convert<true>(t, shared, p, tile, first_m, group, span, kept, acc);
    }
    // The warpgroups of a place meet at the barrier of the place.
    const int bits = p.rows.parity_bits, place = group >> bits;
    t.BarSync(kBarrier + place, 128 << bits);
    if (span.end - span.first >= 16 * kChunks) {
      Write<false>(t, p, span, kept.target, kept.buffer);
    } else {
      Write<true>(t, p, span, kept.target, kept.buffer);
    }
    kept.target.row += kPooledRows;
    kept.buffer ^= 1;
  }

 private:
  // The named barrier of the first place; the kernel has those up to 8.
  static constexpr int kBarrier = 9;

  // Pools the rows of the thread's accumulators and stages them as bytes.
  template <bool kShift, class Tile>
  WEFT_DEVICE static void Convert(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, int group, const ChannelSpan& span,
                                  Kept& kept, const typename Map::Accumulators& acc) {
    WEFT_UNROLL
    for (auto& c : kept.channels) Math::Finish(p, c);
    const std::int32_t top = Windows::First(p.rows, tile, tile.m, group).p;
    if (top <= 0) {  // a strip begins
      WEFT_UNROLL
      for (auto& above : kept.above) above = {};
      kept.target = TargetOf(t, shared, p, tile, group, span);
    }
    const PooledTile<Stage, Shared, Tile> pooled = {
        shared,        p,   tile,
        first_m,       top, top >= 0 && top + kRows <= p.rows.p,
        kept.channels, acc, Corrections::FindBorder(t, shared)};
    const Rows rows(t, kept.channels);
    const auto stage = [&](auto matrices, int first, int x) {
      constexpr int kMatrices = matrices();
      std::uint32_t words[kMatrices];
      rows.template Words<kShift>(t, pooled, first, x, kept.above[x], words);
      const int number = 8 * first + t.lane() % (8 * kMatrices), chunk = 4 * x + t.warp() % 4;
      t.template StMatrixTrans<kMatrices>(
          t.SharedAddress(shared.chunk[kept.buffer][group][Chunks::Place(number, chunk)]), words);
    };
    constexpr int kFours = kPooledRows / 4 * 4;
    WEFT_UNROLL
    for (int x = 0; x < Mma::kBlocks; ++x) {
      const int chunk = 4 * x + t.warp() % 4;
      if (Stage::Pixels::ChannelOf(chunk) >= span.padded_end - span.first) return;
      WEFT_UNROLL
      for (int i = 0; i < kFours; i += 4) stage(std::integral_constant<int, 4>(), i, x);
      if constexpr (kPooledRows % 4 >= 2) stage(std::integral_constant<int, 2>(), kFours, x);
      if constexpr (kPooledRows % 2 == 1) {
        stage(std::integral_constant<int, 1>(), kPooledRows - 1, x);
      }
    }
  }

  // Neighbouring threads of a place take chunks that are adjacent in the destination, then pooled columns, of
  // which there is one for each two output columns, then rows.
  WEFT_DEVICE static int ChunkOf(int thread, int bits) {
    constexpr int kTogether = Stage::kTogether;
    return (thread / kTogether >> (2 + bits)) % (kChunks / kTogether) * kTogether +
           thread % kTogether;
  }
  // The target in the strip of a tile, whose buffer is the first.
  template <class Tile>
  WEFT_DEVICE static Target TargetOf(arch::Thread t, const Shared& shared, const Output& p,
                                     const Tile& tile, int group, const ChannelSpan& span) {
    using Dst = typename Stage::Dst;
    const int bits = p.rows.parity_bits, parities = 1 << bits, first = group & -parities;
    const int thread = t.tid() & (128 * parities - 1), chunk = ChunkOf(thread, bits);
    const int column = thread / Stage::kTogether & (4 * parities - 1);
    const int row = (thread >> (2 + bits)) / kChunks;
    const PooledPlace at = Windows::Pooled(p.rows, tile, tile.m, first);
    const std::int32_t q = at.q + column, k = span.first + 16 * chunk;
    Target target;
    // Rows that no image has, if there is nothing to store.
    const bool stores = column < p.rows.pooled.columns && q < p.rows.pooled.pixels &&
                        k < span.padded_end && row < kPooledRows;
    target.row = stores ? at.p + row : (std::numeric_limits<std::int32_t>::min)() / 2;
    target.to = p.dst + (at.n * Dst::ImageStride(p.extents) + Dst::ChannelOffset(p.extents, k) +
                         PixelOffset<Dst>(p.extents, q));
    WEFT_UNROLL
    for (int i = 0; i < Pool::kSize; ++i) {
      // In place of a column outside the image the next one inside is looked at twice.
      int c = 2 * column + i;
      c = c < -at.first_q ? -at.first_q : c;
      c = c > p.rows.q - 1 - at.first_q ? p.rows.q - 1 - at.first_q : c;
      const int place = Chunks::Place(row * 8 + (c >> bits), chunk);
      target.from[i] = t.SharedAddress(&shared.chunk[0][first]) +
                       static_cast<std::uint32_t>((c & (parities - 1)) * kGroupBytes + 16 * place);
    }
    return target;
  }

  // Stores the thread's target of a tile. kMasked: some channels may be past the last.
  template <bool kMasked>
  WEFT_DEVICE static void Write(arch::Thread t, const Output& p, const ChannelSpan& span,
                                const Target& target, int buffer) {
    using Dst = typename Stage::Dst;
    constexpr int kRun = Stage::kRun;
    const int bits = p.rows.parity_bits;
    const std::int32_t k = span.first + 16 * ChunkOf(t.tid() & ((128 << bits) - 1), bits);
    WEFT_UNROLL
    for (int i = 0; i < kPooledRows; i += kStep) {
      const std::int32_t row = target.row + i;
      const bool in_tile = i + kStep <= kPooledRows || (t.tid() & ((128 << bits) - 1)) >>
                                                           (2 + bits) < (kPooledRows - i) * kChunks;
      if (static_cast<std::uint32_t>(row) >= static_cast<std::uint32_t>(p.rows.pooled.rows) ||
          !in_tile) {
        continue;
      }
      Chunk words[Pool::kSize];
      WEFT_UNROLL
      for (int c = 0; c < Pool::kSize; ++c) {
        words[c] = t.template LoadSharedAt<Chunk>(
            target.from[c] +
            static_cast<std::uint32_t>(buffer * kBufferBytes + i * 8 * kChunks * 16));
      }
      WEFT_UNROLL
      for (int w = 0; w < 4; ++w) {
        Maxima greatest(words[0].word[w]);
        WEFT_UNROLL
        for (int c = 1; c < Pool::kSize; ++c) greatest.Take(t, words[c].word[w]);
        words[0].word[w] = Maxima::ToBytes(greatest.Word());
        if constexpr (kMasked) words[0].word[w] &= Chunks::Mask(span.end - k).word[w];
      }
      Element* const to = target.to + PixelOffset<Dst>(p.extents, row * p.rows.pooled.pixels);
      WEFT_UNROLL
      for (int j = 0; j < 16; j += kRun) {
        Vector v;
        memcpy(&v, reinterpret_cast<const std::uint8_t*>(words[0].word) + j, sizeof(v));
        if (!kMasked || k + j < span.padded_end) {
          const std::int64_t run =
              j == 0 ? 0 : Dst::ChannelOffset(p.extents, k + j) - Dst::ChannelOffset(p.extents, k);
          t.StoreGlobal(reinterpret_cast<Vector*>(to + run), v);
        }
      }
    }
  }

  // Outputs that are stored by one instruction.
  struct alignas(Stage::kRun) Vector {
    unsigned char byte[Stage::kRun];
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
