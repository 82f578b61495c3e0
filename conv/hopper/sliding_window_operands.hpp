// Operands of wgmma_sm90 for a first layer, over NCxHWx<4>: a sliding-window operand, whose rows
// overlap in shared memory, and a filter that stays there (gemm/ring/first_layer_producer.hpp).
//
// A chunk of k is 16 bytes: four pixels side by side, of one block of 4 channels and one row of
// taps. Without swizzle the 8 rows of a core matrix, here output pixels, lie 16 bytes apart. So
// output pixels whose receptive fields begin 16 bytes apart read their chunks in place, from one
// copy of a source row, and the chunks of other taps begin some bytes later in it. At stride 4 such
// pixels are neighbours; at stride 2 (1) they are every second (fourth) pixel, those of one parity
// of 2 (4). The receptive fields of the next parity begin 8 (4) bytes later: it has a copy of its
// own.
//
// A sliding window is the source that 8 output columns of one parity and some output rows read. The
// windows of a batch are numbered by parity (fastest), columns, rows and images; a tile has as many
// consecutive ones as there are warpgroups that share its rows.
//
// Where a tile has all parities of its columns, and rows of the source are multiples of 16 bytes,
// TMA loads places: source rows that hold the windows of all parities. The window whose receptive
// fields begin at multiples of 16 bytes is read in place; warps copy the others, shifted by some
// bytes.
#pragma once

#include <cstdint>

#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/conv/source/kernel_params.hpp"
#include "weft/gemm/ring/first_layer_producer.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {

// What a MaxPool makes of the output rows and columns of windows. A place of 8 columns of each parity has `columns` pooled
// ones, and shares the columns behind them with the next place.
struct PooledWindows {
  std::int32_t rows = 0, pixels = 0;  // pooled rows of an image, and columns
  std::int32_t columns = 0;           // pooled columns of a place
  std::int32_t left = 0;              // columns before the image with which its first place begins
  std::int32_t above = 0;             // rows before the image with which its first tile begins
  std::int32_t skipped = 0;           // pooled rows of a strip that come before those of the image
};

// Rows of the product: (window, output row, 8 columns), columns fastest. PixelMap's divisors count
// windows: those of an image, and those of a row of windows.
struct SlidingWindowRows : Im2colPixelMap {
  static constexpr bool kPaddingIsFilled = false;  // the threads that copy write zeros

  std::int32_t images = 0;  // of a batch
  std::int32_t parity_bits = 0;
  PooledWindows pooled;  // where the epilogue has a MaxPool

  // Divides by the tiles of a strip (SlidingWindowStrips).
  constexpr const gemm::FastDivmod& StripTiles() const { return row_pixels; }
};

// Which windows a tile has: the i-th of tile m begins at output pixel First, and has kRowsV output rows.
template <int kRowsV, int kWindowsV>
struct SlidingWindows {
  static constexpr int kRows = kRowsV, kWindows = kWindowsV;  // kWindows: of a tile

  template <class Tile>
  static constexpr PixelPlace First(const SlidingWindowRows& rows, const Tile& tile, std::int32_t m,
                                    std::int32_t i) {
    PixelPlace at;
    std::int32_t rest = 0;
    at.n = rows.image_pixels.Divmod(m * kWindows + i, rest);
    at.inside = at.n < rows.images;
    if (kDependsOf<Tile>.image) at.n += tile.batch.n;
    at.p = rows.row_pixels.Divmod(rest, rest) * kRows;
    const std::int32_t parity = rest & ((1 << rows.parity_bits) - 1);
    at.q = (rest - parity) * 8 + parity;
    return at;
  }
};

// The same where the epilogue has a MaxPool. Tiles that follow one another go down a strip of an image, the columns
// of kWindows windows, so that a thread has the output row above its own from the tile before.
// PixelMap's divisors count tiles of a strip and strips of an image.
template <int kRowsV, int kWindowsV>
struct SlidingWindowStrips {
  static constexpr int kRows = kRowsV, kWindows = kWindowsV;

  template <class Tile>
  static constexpr PixelPlace First(const SlidingWindowRows& rows, const Tile&, std::int32_t m,
                                    std::int32_t i) {
    const TileOfStrip of = Split(rows, m);
    PixelPlace at;
    at.n = of.n;
    at.inside = at.n < rows.images;
    at.p = of.tile * kRows - rows.pooled.above;
    const std::int32_t parity = i & ((1 << rows.parity_bits) - 1);
    at.q = Place(rows, of, i) * (2 * rows.pooled.columns) - rows.pooled.left + parity;
    return at;
  }

  // Where the pooled pixels of the place begin whose first window is the i-th of tile m.
  template <class Tile>
  static constexpr gemm::PooledPlace Pooled(const SlidingWindowRows& rows, const Tile& tile,
                                            std::int32_t m, std::int32_t i) {
    const TileOfStrip of = Split(rows, m);
    return {of.n, of.tile * (kRows / 2) - rows.pooled.skipped,
            Place(rows, of, i) * rows.pooled.columns, First(rows, tile, m, i).q};
  }

 private:
  struct TileOfStrip {
    std::int32_t n, strip, tile;
  };
  static constexpr TileOfStrip Split(const SlidingWindowRows& rows, std::int32_t m) {
    TileOfStrip of{};
    of.n = rows.image_pixels.Divmod(rows.row_pixels.Divmod(m, of.tile), of.strip);
    return of;
  }
  // The number of window i's place in a row of places.
  static constexpr std::int32_t Place(const SlidingWindowRows& rows, const TileOfStrip& of,
                                      std::int32_t i) {
    return of.strip * (kWindows >> rows.parity_bits) + (i >> rows.parity_bits);
  }
};

// WindowsT: one of the two above.
template <class WindowsT>
struct SlidingWindowMap : SlidingWindowRows {
  using Windows = WindowsT;

  template <class Tile>
  constexpr PixelPlace OutputPlace(const Tile& tile, std::int32_t m) const {
    constexpr int kRows = Windows::kRows;
    const auto row = static_cast<std::uint32_t>(m);
    const std::uint32_t window = row / (kRows * 8), line = row / 8 - window * kRows;
    PixelPlace at =
        Windows::First(*this, tile, static_cast<std::int32_t>(window / Windows::kWindows),
                       static_cast<std::int32_t>(window % Windows::kWindows));
    at.p += static_cast<std::int32_t>(line);
    at.q += static_cast<std::int32_t>(row % 8) << parity_bits;
    at.inside = at.inside && static_cast<std::uint32_t>(at.p) < static_cast<std::uint32_t>(p) &&
                static_cast<std::uint32_t>(at.q) < static_cast<std::uint32_t>(q);
    return at;
  }
  template <class Tile>
  constexpr gemm::OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    return PixelAt(OutputPlace(tile, m));
  }
};

struct SlidingWindowSource {
  SlidingWindowRows rows;
  const void* src = nullptr;
  std::int32_t h = 0, w = 0;
  std::int32_t stride_h = 0, stride_w = 0;
  std::int32_t pad_top = 0;
  std::int32_t left = 0;          // pixels from a receptive field's first column to q * stride_w
  std::int32_t blocks = 0;        // blocks of 4 channels in k of a product
  gemm::FastDivmod by_block;      // by blocks
  std::int32_t image_blocks = 0;  // blocks of 4 channels of an image
  std::int32_t lines = 0;         // source rows of a window, in one block of channels
  std::int32_t line_bytes = 0;    // bytes of a source row that a window has
  std::int32_t line_pitch = 0;    // bytes in shared memory from a window's row to the next
  std::int32_t start[4] = {};     // where each window of a tile begins in its stage, in bytes
  // What TMA loads of a tile: how many places (0: none), bytes from one to the next in a stage, and
  // how many pixels before column q * stride_w the rows of a place begin.
  std::int32_t places = 0, place_bytes = 0, place_left = 0;
  std::int32_t place_lines = 0;  // rows of a place, in all blocks of channels
  // The copies that warps make of windows in a tile's places: where in the stage each begins and
  // where it goes, in bytes; and how many rows all threads copy at once.
  struct ShiftedWindow {
    std::int32_t from = 0, to = 0;
  };
  static constexpr int kShiftThreads = 96;
  std::int32_t shifts = 0, shift_lines = 0;
  ShiftedWindow shift[4] = {};
  std::int32_t widest = 0;        // bytes of the widest copy, 4, 8 or 16, that source rows allow
  gemm::FastDivmod pieces[3];     // by a row's pieces of 4, 8 and 16 bytes
  std::int32_t together[3] = {};  // rows that a team loads at once, in such pieces

  // The threads that load one window, of the 128 that copy.
  static constexpr int Team(int windows) { return windows % 2 == 0 ? 64 : 128; }
};

// The four words of a chunk come from the filter units (FilterParams) first_unit, first_unit + step
// and so on; a word whose bit of `taps` is 0 becomes zeros.
struct FilterChunk {
  std::int16_t first_unit = 0;
  std::uint16_t taps = 0;
};

struct FilterChunks {
  static constexpr int kMost = 2 * gemm::WgmmaPlan::kMostSteps;
  std::int32_t chunks = 0;
  std::int32_t step = 1;  // -1 where Mode::kConvolution flips the filter
  FilterChunk chunk[kMost] = {};
};

struct SlidingWindowOperandParams : SlidingWindowSource {
  arch::TensorMap map;  // of the places
};

struct ResidentFilterParams : FilterParams, FilterChunks {};

// Windows: SlidingWindows or SlidingWindowStrips.
template <class Prologue, class Epilogue, class Windows>
struct FirstLayerParams
    : gemm::WarpSpecializedParams<
          typename BatchGrid<Prologue>::Params, SlidingWindowOperandParams, ResidentFilterParams,
          gemm::OutputParams<Epilogue, RowsFor<Prologue, SlidingWindowMap<Windows>>>> {};

inline namespace WEFT_BACKEND {

// Windows: SlidingWindows or SlidingWindowStrips.
template <class Mma, class Tile, class Windows>
class SlidingWindowOperand : public gemm::OperandTraits {
  static constexpr int kWindows = Windows::kWindows;
  static_assert(kWindows == Mma::kTileGroups / Mma::kGroupsN && Windows::kRows == Mma::kN / 8);
  // Threads that load one window: for an even number of windows two teams share the arithmetic.
  static constexpr int kTeam = SlidingWindowSource::Team(kWindows);

 public:
  static constexpr bool kHasTensorMap = true;
  static constexpr int kShiftThreads = SlidingWindowSource::kShiftThreads;

  WEFT_DEVICE SlidingWindowOperand(const SlidingWindowOperandParams& p, const Tile& tile)
      : p_(p), tile_(tile) {}

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to) const {
    // Also where there is one team, number 0: ptxas then keeps all of this in uniform registers.
    const int team = t.WarpUniform((t.tid() - Mma::kThreads) / kTeam);
    // x counts windows and blocks of channels in one: these threads have few registers.
    WEFT_NO_UNROLL
    for (int x = team; x < kWindows * p_.blocks; x += 128 / kTeam) {
      std::int32_t c;
      const std::int32_t i = p_.by_block.Divmod(x, c);
      const PixelPlace at = Windows::First(p_.rows, tile_, tile_.m, i);
      const std::int32_t w = at.q * p_.stride_w - p_.left;
      const std::int32_t h = at.inside ? at.p * p_.stride_h - p_.pad_top : p_.h;
      const std::int32_t bits = 4 * w | p_.widest;  // the lowest set bit is the widest copy
      std::int64_t first = std::int64_t{at.n} * p_.image_blocks + c;
      if constexpr (kDependsOf<Tile>.group) first += tile_.batch.g * p_.blocks;
      const auto* block = static_cast<const std::uint8_t*>(p_.src) + first * p_.h * p_.w * 4;
      const std::uint32_t window =
          to + static_cast<std::uint32_t>(p_.start[i] + c * p_.lines * p_.line_pitch);
      if ((bits & 4) != 0) {
        CopyLines<4>(t, window, block, h, w);
      } else if ((bits & 8) != 0) {
        CopyLines<8>(t, window, block, h, w);
      } else {
        CopyLines<16>(t, window, block, h, w);
      }
    }
  }

  WEFT_DEVICE int TmaBytes() const { return p_.places * p_.blocks * p_.lines * p_.line_pitch; }
  WEFT_DEVICE void Load(arch::Thread t, std::uint32_t to, std::uint32_t bar) const {
    const int windows = kWindows / p_.places;  // windows of one place
    WEFT_NO_UNROLL
    for (int i = 0; i < p_.places; ++i) {
      const PixelPlace at = Windows::First(p_.rows, tile_, tile_.m, i * windows);
      std::int32_t first = at.n * p_.image_blocks;
      if constexpr (kDependsOf<Tile>.group)
        first += static_cast<std::int32_t>(tile_.batch.g) * p_.blocks;
      t.TmaLoad(to, p_.map, bar,
                {at.q * p_.stride_w - p_.place_left,
                 at.inside ? at.p * p_.stride_h - p_.pad_top : p_.h, first});
      to += static_cast<std::uint32_t>(p_.place_bytes);
    }
  }
  // Copies the windows of a stage that are not read in place. thread: of kShiftThreads, which copy
  // as many rows at once as there are threads for their 16-byte pieces.
  WEFT_DEVICE void Shift(arch::Thread t, std::uint32_t stage, int thread) const {
    std::int32_t piece;
    const std::int32_t first = p_.pieces[2].Divmod(thread, piece);
    if (first >= p_.shift_lines) return;
    const auto pitch = static_cast<std::uint32_t>(p_.line_pitch);
    const std::uint32_t step = static_cast<std::uint32_t>(p_.shift_lines) * pitch;
    stage += static_cast<std::uint32_t>(first) * pitch + static_cast<std::uint32_t>(piece * 16);
    WEFT_NO_UNROLL
    for (int i = 0; i < p_.shifts; ++i) {
      std::uint32_t from = stage + static_cast<std::uint32_t>(p_.shift[i].from);
      std::uint32_t to = stage + static_cast<std::uint32_t>(p_.shift[i].to);
      const bool by_eights = p_.shift[i].from % 8 == 0;
      WEFT_NO_UNROLL
      for (std::int32_t line = first; line < p_.place_lines; line += p_.shift_lines) {
        Piece piece16;
        if (by_eights) {
          WEFT_UNROLL
          for (std::uint32_t k = 0; k < 2; ++k) {
            piece16.half[k] = t.template LoadSharedAt<Half>(from + 8 * k);
          }
        } else {
          WEFT_UNROLL
          for (std::uint32_t k = 0; k < 4; ++k) {
            piece16.half[k / 2].word[k % 2] = t.template LoadSharedAt<std::uint32_t>(from + 4 * k);
          }
        }
        t.StoreSharedAt(to, piece16);
        from += step;
        to += step;
      }
    }
  }

 private:
  struct alignas(8) Half {
    std::uint32_t word[2];
  };
  struct alignas(16) Piece {
    Half half[2];
  };

  // Loads the rows of a window, as many at once as the team has threads for their pieces.
  template <int kBytes>
  WEFT_DEVICE void CopyLines(arch::Thread t, std::uint32_t to, const std::uint8_t* block,
                             std::int32_t h, std::int32_t w) const {
    constexpr int kIndex = kBytes / 8;
    std::int32_t piece;
    const std::int32_t line = p_.pieces[kIndex].Divmod((t.tid() - Mma::kThreads) % kTeam, piece);
    const std::int32_t step = p_.together[kIndex];
    if (line >= step) return;
    w += piece * (kBytes / 4);
    const auto wide = static_cast<std::uint32_t>(p_.w);
    // Columns outside the image have no rows.
    const std::uint32_t rows = static_cast<std::uint32_t>(w) < wide ? p_.h : 0;
    const std::int32_t end = h + p_.lines;
    h += line;
    auto pixel = static_cast<std::uint32_t>(h) * wide + static_cast<std::uint32_t>(w);
    to += static_cast<std::uint32_t>(line * p_.line_pitch + piece * kBytes);
    WEFT_NO_UNROLL
    for (; h < end; h += step) {
      const std::int64_t from = std::int64_t{4} * static_cast<std::int32_t>(pixel);
      t.template CpAsync<kBytes>(to, block + from,
                                 static_cast<std::uint32_t>(h) < rows ? kBytes : 0);
      pixel += static_cast<std::uint32_t>(step) * wide;
      to += static_cast<std::uint32_t>(step * p_.line_pitch);
    }
  }

  const SlidingWindowOperandParams& p_;
  const Tile& tile_;
};

// The filter as wgmma reads it without swizzle, in core matrices. Of each step (32 bytes of k) and
// each 8 output channels it has the first 16 bytes of k of these channels, then the second 16.
template <class Mma>
class ResidentFilter : public gemm::OperandTraits {
 public:
  template <class Tile>
  WEFT_DEVICE ResidentFilter(const ResidentFilterParams& p, const Tile& tile)
      : p_(p),
        filter_(static_cast<const std::uint8_t*>(p.Data(tile))),
        k_(tile.n * Mma::kBlockN),
        key_(tile.filter << 32 | static_cast<std::uint32_t>(tile.n)) {}

  WEFT_DEVICE std::int64_t Key() const { return key_; }

  // Writes the filter to shared memory; all consumer threads call it. A thread has kAtOnce chunks
  // in flight, because a short kernel waits for this more than for anything else.
  WEFT_DEVICE void Store(arch::Thread t, std::uint32_t to) const {
    constexpr int kN = Mma::kBlockN, kThreads = Mma::kThreads, kAtOnce = kThreads > 128 ? 4 : 8;
    const std::int64_t unit = std::int64_t{p_.padded_k} * 4;
    WEFT_NO_UNROLL
    for (int first = t.tid(); first < p_.chunks * kN; first += kAtOnce * kThreads) {
      Chunk chunks[kAtOnce];
      WEFT_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        const int item = first + j * kThreads;
        FilterChunk chunk;
        if (item < p_.chunks * kN) chunk = p_.chunk[item / kN];
        const std::int32_t k = k_ + item % kN;
        if (k >= p_.padded_k) chunk.taps = 0;
        const std::uint8_t* from = filter_ + std::int64_t{k} * 4 + chunk.first_unit * unit;
        WEFT_UNROLL
        for (int tap = 0; tap < 4; ++tap) {
          chunks[j].word[tap] =
              (chunk.taps >> tap & 1) != 0
                  ? t.LoadGlobalCoherent(reinterpret_cast<const std::uint32_t*>(from))
                  : 0;
          from += p_.step * unit;
        }
      }
      WEFT_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        const int item = first + j * kThreads;
        if (item >= p_.chunks * kN) break;
        const int i = item / kN, row = gemm::PairedColumn(item % kN);
        t.StoreSharedAt(to + static_cast<std::uint32_t>(i / 2 * (kN * 32) + row / 8 * 256 +
                                                        i % 2 * 128 + row % 8 * 16),
                        chunks[j]);
      }
    }
  }

 private:
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };

  const ResidentFilterParams& p_;
  const std::uint8_t* filter_;
  std::int32_t k_;
  std::int64_t key_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
