// Operands of wgmma_sm90 for a first layer, over NCxHWx<4>: strips of the source, and a filter that
// stays in shared memory (gemm/resident_ring.hpp).
//
// A chunk of k is 16 bytes: four pixels side by side, of one block of 4 channels and one row of taps.
// Without swizzle the 8 rows of a core matrix, here output pixels, lie 16 bytes apart. So output
// pixels whose windows begin 16 bytes apart read their chunks in place, as sliding windows of a line
// of the source, and the chunks of other taps are further windows, that many bytes on. At stride 4
// these are neighbours; at stride 2 (1) every second (fourth) pixel, of one parity of 2 (4). The
// windows of another parity begin 8 (4) bytes later: it has a copy of its own.
//
// A strip is what 8 output columns of one parity and some output rows need. Each warpgroup of a tile
// multiplies one; neighbouring warpgroups, and tiles, have the strips of the parities in turn.
#pragma once

#include <cstdint>

#include "weft/conv/copied_operands.hpp"
#include "weft/conv/kernel_params.hpp"
#include "weft/gemm/resident_ring.hpp"

namespace weft::conv {

// Rows of the product: (strip, output row, 8 columns). The divisors of PixelMap count tiles: of an
// image, and of a row of tiles.
struct StripRows : WalkMap {
  std::int32_t parity_bits = 0;

  // Of a strip's first pixel.
  constexpr std::int32_t Column(std::int32_t strip) const {
    const std::int32_t parity = strip & ((1 << parity_bits) - 1);
    return (strip - parity) * 8 + parity;
  }
  // Image and output row of a tile of strips of kRows output rows, and, as q, its first strip of
  // kStrips.
  template <int kStrips, int kRows, class Tile>
  constexpr PixelPlace First(const Tile& tile) const {
    PixelPlace at;
    std::int32_t rest = 0;
    at.n = image_pixels.Divmod(tile.m, rest);
    at.p = row_pixels.Divmod(rest, at.q) * kRows;
    at.q *= kStrips;
    if (kDependsOf<Tile>.image) at.n += tile.batch.n;
    return at;
  }
};

template <int kStrips, int kRows>
struct StripMap : StripRows {
  template <class Tile>
  constexpr gemm::OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    const PixelPlace first = First<kStrips, kRows>(tile);
    const auto row = static_cast<std::uint32_t>(m - tile.m * (kStrips * kRows * 8));
    const std::uint32_t strip = row / (kRows * 8), line = row / 8 - strip * kRows;
    const std::int32_t at_p = first.p + static_cast<std::int32_t>(line);
    const std::int32_t at_q = Column(first.q + static_cast<std::int32_t>(strip)) +
                              (static_cast<std::int32_t>(row % 8) << parity_bits);
    return {first.n, at_p * q + at_q, at_p < p && at_q < q};
  }
};

struct SourceStrips {
  StripRows rows;
  const void* src = nullptr;
  std::int32_t h = 0, w = 0;
  std::int32_t stride_h = 0, stride_w = 0;
  std::int32_t pad_top = 0;
  std::int32_t left = 0;    // from a window's first pixel to its output column's, times stride
  std::int32_t blocks = 0;  // of channels, of a product
  std::int32_t image_blocks = 0;  // of an image
  std::int32_t lines = 0;         // of a strip and block of channels
  std::int32_t line_bytes = 0;    // in shared memory
  std::int32_t widest = 0;        // bytes of a copy, 4, 8 or 16, that lines of the source allow
  gemm::FastDivmod pieces[3];     // of 4, 8, 16 bytes, of a line
  std::int32_t together[3] = {};  // lines that all threads bring at once
};

// The four words of a chunk: filter units (FilterParams) first_unit, first_unit + step, ...; those
// whose bit of `taps` is 0 are zeros.
struct FilterChunk {
  std::int16_t first_unit = 0;
  std::uint16_t taps = 0;
};

struct FilterChunks {
  static constexpr int kMost = 2 * gemm::WgmmaPlan::kMostSteps;
  std::int32_t chunks = 0;
  std::int32_t step = 1;  // -1: Mode::kConvolution
  FilterChunk chunk[kMost] = {};
};

struct ResidentFilterParams : FilterParams, FilterChunks {};

template <class P>
struct StripParams {
  static constexpr gemm::TileShape kTile = P::config.threadblock, kWarp = P::config.warp;
  typename BatchGrid<typename P::Prologue>::Params schedule;
  SourceStrips a;
  ResidentFilterParams b;
  gemm::OutputParams<P, StripMap<kTile.m / kWarp.m, kWarp.m / 8>> output;
  gemm::MbarRingParams ring;
  gemm::WgmmaPlan plan;
  std::int32_t slices = 0;
  std::int32_t tiles = 0;
  std::int32_t early = 0;  // not 0: the filter is fetched before earlier kernels have ended
};

inline namespace WEFT_BACKEND {

template <class M>
class StripSource {
  static constexpr int kStrips = M::kGroups / M::kGroupsN, kRows = M::kN / 8;

 public:
  template <class Tile>
  WEFT_DEVICE StripSource(const SourceStrips& p, const Tile& tile)
      : p_(p), first_(p.rows.First<kStrips, kRows>(tile)) {
    if constexpr (kDependsOf<Tile>.group) block_ = tile.batch.g * p.blocks;
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to) const {
    const auto block_bytes = static_cast<std::uint32_t>(p_.lines * p_.line_bytes);
    WEFT_NO_UNROLL
    for (int strip = 0; strip < kStrips; ++strip) {
      const std::int32_t w = p_.rows.Column(first_.q + strip) * p_.stride_w - p_.left;
      const std::int32_t bits = 4 * w | p_.widest;  // the lowest is the widest copy that w allows
      WEFT_NO_UNROLL
      for (int block = 0; block < p_.blocks; ++block) {
        if ((bits & 4) != 0) {
          CopyLines<4>(t, to, w, block);
        } else if ((bits & 8) != 0) {
          CopyLines<8>(t, to, w, block);
        } else {
          CopyLines<16>(t, to, w, block);
        }
        to += block_bytes;
      }
    }
  }

 private:
  // The pieces of a line, and as many lines as threads remain, are brought at once.
  template <int kBytes>
  WEFT_DEVICE void CopyLines(arch::Thread t, std::uint32_t to, std::int32_t w, int block) const {
    constexpr int kIndex = kBytes / 8;
    std::int32_t piece;
    const std::int32_t line = p_.pieces[kIndex].Divmod(t.tid() - M::kThreads, piece);
    const std::int32_t step = p_.together[kIndex];
    if (line >= step) return;
    w += piece * (kBytes / 4);
    std::int32_t h = first_.p * p_.stride_h - p_.pad_top + line;
    const std::int32_t end = h - line + p_.lines;
    const bool inside = static_cast<std::uint32_t>(w) < static_cast<std::uint32_t>(p_.w);
    const auto* const src = static_cast<const std::uint8_t*>(p_.src);
    const std::int64_t plane = std::int64_t{first_.n} * p_.image_blocks + block_ + block;
    std::int64_t from = ((plane * p_.h + h) * p_.w + w) * 4;
    to += static_cast<std::uint32_t>(line * p_.line_bytes + piece * kBytes);
    WEFT_NO_UNROLL
    for (; h < end; h += step) {
      const bool wanted =
          inside && static_cast<std::uint32_t>(h) < static_cast<std::uint32_t>(p_.h);
      t.template CpAsync<kBytes>(to, wanted ? src + from : src, wanted ? kBytes : 0);
      from += std::int64_t{step} * p_.w * 4;
      to += static_cast<std::uint32_t>(step * p_.line_bytes);
    }
  }

  const SourceStrips& p_;
  PixelPlace first_;
  std::int32_t block_ = 0;
};

// As wgmma reads it without swizzle: of each step 8 channels by 16 bytes of k, the second 16 bytes,
// the next 8 channels.
template <class M>
class ResidentFilter {
 public:
  template <class Tile>
  WEFT_DEVICE ResidentFilter(const ResidentFilterParams& p, const Tile& tile)
      : p_(p),
        filter_(static_cast<const std::uint8_t*>(p.Data(tile))),
        k_(tile.n * M::kBlockN),
        key_(tile.filter << 32 | static_cast<std::uint32_t>(tile.n)) {}

  WEFT_DEVICE std::int64_t Key() const { return key_; }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to) const {
    constexpr int kN = M::kBlockN;
    const int thread = t.tid() - M::kThreads;
    WEFT_NO_UNROLL
    for (int i = 0; i < p_.chunks; ++i) {
      const FilterChunk chunk = p_.chunk[i];
      WEFT_UNROLL
      for (int word = thread; word < 4 * kN; word += 128) {
        const int tap = word / kN, k = word % kN;
        const bool wanted = (chunk.taps >> tap & 1) != 0 && k_ + k < p_.padded_k;
        const std::int64_t unit = chunk.first_unit + tap * p_.step;
        const std::int64_t from = (unit * p_.padded_k + k_ + k) * 4;
        const int place = i / 2 * (kN * 32) + k / 8 * 256 + i % 2 * 128 + k % 8 * 16 + tap * 4;
        t.template CpAsync<4>(to + static_cast<std::uint32_t>(place),
                              wanted ? filter_ + from : filter_, wanted ? 4 : 0);
      }
    }
  }

 private:
  const ResidentFilterParams& p_;
  const std::uint8_t* filter_;
  std::int32_t k_;
  std::int64_t key_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
