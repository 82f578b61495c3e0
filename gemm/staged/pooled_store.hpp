// The second half of an epilogue with a MaxPool, for wgmma products of a first layer
// (conv/hopper/sliding_window_operands.hpp): of the outputs of a tile only the greatest of each window
// are staged and stored.
//
// A thread has the outputs of two columns and two channels in all output rows of its warpgroup's
// window of the source, as words that stmatrix takes. It pools them over the rows in registers; the
// last row of a tile is the first of the tile below, which its block multiplies next. The pooled rows
// are staged as in a StagedStore. The columns of a place lie by parity with the warpgroups that share
// it: when all of these have staged, each thread takes the greatest of the chunks of a window's columns
// and stores it. Tiles stage in two buffers in turn, so that one barrier a tile is enough.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/staged/byte_maxima.hpp"
#include "weft/gemm/staged/staged_bytes.hpp"
#include "weft/gemm/staged/staged_pair.hpp"
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

 public:
  static constexpr bool kStaged = true, kDependent = true, kCarries = true;
  struct Shared : std::conditional_t<Math::kTerms, WithTerms, Places> {};
  // What a thread keeps from one tile to the next: the values of its channels (StagedStore::Kept), the
  // last output row of the tile, and the buffer to stage in.
  struct Kept {
    std::int32_t first_k = -1, values = 0;
    typename Math::Channels channels[Map::kGroups];
    std::uint32_t above[Mma::kBlocks];
    int buffer = 0;
  };

  template <class Tile>
  WEFT_DEVICE static void Begin(arch::Thread, Shared&, const Output&, const Tile&, std::int32_t,
                                std::int32_t) {}

  // Works out what does not depend on the accumulators. It is called while the mainloop multiplies. All
  // threads of the warpgroup have read the last tile's terms: they met when they had staged it.
  template <class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, std::int32_t first_n, Kept& kept) {
    if constexpr (Math::kTerms) {
      WEFT_UNROLL
      for (int i = 0; i < Stage::kPixels; i += 128) {
        const int number = i + t.tid() % 128;
        const OutputPixel pixel = p.rows.Pixel(tile, first_m + Map::FirstPixel(t) + number);
        const auto terms = Math::TermsOf(t, p, tile, pixel);
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
      Write<false>(t, shared, p, tile, group, span, kept.buffer);
    } else {
      Write<true>(t, shared, p, tile, group, span, kept.buffer);
    }
    kept.buffer ^= 1;
  }

 private:
  // The named barrier of the first place; the kernel has those up to 8.
  static constexpr int kBarrier = 9;

  // Converts the thread's accumulators, pools their rows and stages these.
  template <bool kShift, class Tile>
  WEFT_DEVICE static void Convert(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m, int group, const ChannelSpan& span,
                                  Kept& kept, const typename Map::Accumulators& acc) {
    WEFT_UNROLL
    for (auto& c : kept.channels) Math::Finish(p, c);
    const auto border = Corrections::FindBorder(t, shared);
    using Windows = typename Output::Rows::Windows;
    const std::int32_t top = Windows::First(p.rows, tile, tile.m, group).p;
    const bool whole = top >= 0 && top + kRows <= p.rows.p;
    if (top <= 0) {
      WEFT_UNROLL
      for (auto& above : kept.above) above = Maxima::kNone;
    }
    // Output row i, in column block x.
    const auto row = [&](int i, int x) {
      typename Math::Range ranges[Map::kGroups];
      std::uint32_t half[2] = {};
      const std::uint32_t word = StagedPair<Stage>::template Pack<kShift>(
          t, shared, p, tile, first_m, 2 * i, x, border.AnyOfEight(i), kept.channels, 0, acc, ranges,
          half);
      return Maxima::FromBytes(word);
    };
    const auto stage = [&](auto matrices, int first, int x) {
      constexpr int kMatrices = matrices();
      std::uint32_t rows[2 * kMatrices];
      WEFT_UNROLL
      for (int j = 0; j < 2 * kMatrices; ++j) rows[j] = row(2 * first + j, x);
      if (!whole) {
        WEFT_UNROLL
        for (int j = 0; j < 2 * kMatrices; ++j) {
          const auto y = static_cast<std::uint32_t>(top + 2 * first + j);
          if (y >= static_cast<std::uint32_t>(p.rows.p)) rows[j] = Maxima::kNone;
        }
      }
      std::uint32_t words[kMatrices];
      WEFT_UNROLL
      for (int j = 0; j < kMatrices; ++j) {
        Maxima greatest(rows[2 * j]);
        greatest.Take(t, rows[2 * j + 1]);
        if constexpr (Pool::kSize == 3) greatest.Take(t, j == 0 ? kept.above[x] : rows[2 * j - 1]);
        words[j] = greatest.Word();
      }
      kept.above[x] = rows[2 * kMatrices - 1];
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

  // Stores the place's pooled pixels. All threads of its warpgroups call it. kMasked: some channels may
  // be past the last.
  template <bool kMasked, class Tile>
  WEFT_DEVICE static void Write(arch::Thread t, const Shared& shared, const Output& p,
                                const Tile& tile, int group, const ChannelSpan& span, int buffer) {
    using Dst = typename Stage::Dst;
    constexpr int kTogether = Stage::kTogether, kRun = Stage::kRun;
    const int bits = p.rows.parity_bits, parities = 1 << bits, first = group & -parities;
    // Neighbouring threads take chunks that are adjacent in the destination, then columns, of which there
    // is one for each two output columns of the place, then rows.
    int rest = t.tid() & (128 * parities - 1);
    int chunk = rest % kTogether;
    rest /= kTogether;
    const int column = rest & (4 * parities - 1);
    rest >>= 2 + bits;
    chunk += rest % (kChunks / kTogether) * kTogether;
    rest /= kChunks / kTogether;
    constexpr int kStep = 32 / kChunks;  // rows of one pass of the threads
    const std::int32_t k = span.first + 16 * chunk;
    using Windows = typename Output::Rows::Windows;
    const PooledPlace at = Windows::Pooled(p.rows, tile, tile.m, first);
    const std::int32_t q = at.q + column;
    if (column >= p.rows.pooled.columns || q >= p.rows.pooled.pixels) return;
    if (kMasked && k >= span.padded_end) return;
    const std::uint8_t* from[Pool::kSize];  // each output column of the window, in row 0
    bool inside[Pool::kSize];
    int staged[Pool::kSize];
    WEFT_UNROLL
    for (int i = 0; i < Pool::kSize; ++i) {
      const int c = 2 * column + i;
      inside[i] = static_cast<std::uint32_t>(at.first_q + c) < static_cast<std::uint32_t>(p.rows.q);
      staged[i] = c >> bits;
      from[i] = shared.chunk[buffer][first + (c & (parities - 1))][0];
    }
    const Chunk keep = Chunks::Mask(span.end - k);
    Element* to[16 / kRun];
    const std::int64_t image = at.n * Dst::ImageStride(p.extents);
    WEFT_UNROLL
    for (int j = 0; j < 16; j += kRun) {
      to[j / kRun] = p.dst + (image + Dst::ChannelOffset(p.extents, k + j));
    }
    WEFT_UNROLL
    for (int i = 0; i < kPooledRows; i += kStep) {
      const int row = i + rest;
      const std::int32_t y = at.p + row;
      if (row >= kPooledRows || static_cast<std::uint32_t>(y) >=
                                    static_cast<std::uint32_t>(p.rows.pooled.rows)) {
        continue;
      }
      Maxima greatest[4];
      WEFT_UNROLL
      for (int c = 0; c < Pool::kSize; ++c) {
        Chunk words = t.LoadShared(reinterpret_cast<const Chunk*>(
            from[c] + 16 * Chunks::Place(row * 8 + staged[c], chunk)));
        WEFT_UNROLL
        for (int w = 0; w < 4; ++w) {
          greatest[w].Take(t, inside[c] ? words.word[w] : Maxima::kNone);
        }
      }
      Chunk words;
      WEFT_UNROLL
      for (int w = 0; w < 4; ++w) {
        words.word[w] = Maxima::ToBytes(greatest[w].Word());
        if constexpr (kMasked) words.word[w] &= keep.word[w];
      }
      const std::int64_t offset = PixelOffset<Dst>(p.extents, y * p.rows.pooled.pixels + q);
      WEFT_UNROLL
      for (int j = 0; j < 16; j += kRun) {
        Vector v;
        memcpy(&v, reinterpret_cast<const std::uint8_t*>(words.word) + j, sizeof(v));
        if (!kMasked || k + j < span.padded_end) {
          t.StoreGlobal(reinterpret_cast<Vector*>(to[j / kRun] + offset), v);
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
