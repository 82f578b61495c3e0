// How a k tile of a wgmma_sm90 convolution is made up, by taps or by a patch
// (conv/plan/wgmma_plan.hpp), and what that costs TMA.
#pragma once

#include <cstdint>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::conv {

// How a k tile is made up.
struct KTiling {
  bool patch = false;
  std::int64_t span = 32;        // channels of a chunk
  std::int64_t chunk_taps = 1;   // and how many of the filter's taps
  std::int64_t filter_rows = 0;  // and rows of `span` values of the filter
  std::int64_t filter_bits = 8;  // of such a value
  // Rows behind a k tile's that products read, and nobody loads: of a tile that is larger than the product.
  std::int64_t filter_tail = 0, source_tail = 0;
  std::int64_t chunks = 0;  // of k
  std::int64_t k_tile_chunks = 1;
  std::int64_t copies_h = 1, copies_w = 1;  // of the source, for a chunk
  std::int64_t pixels = 0;                  // of a copy
  std::int64_t pitch_w = 0, pitch_h = 0;    // of the traversal
  std::int64_t stages = 0;

  std::int64_t copies() const { return copies_h * copies_w; }
  std::int64_t rows() const { return k_tile_chunks * copies() * pixels; }  // of a k tile
  std::int64_t copy_bytes() const { return pixels * span; }
  std::int64_t chunk_bytes() const { return copies() * copy_bytes(); }
  std::int64_t steps() const { return k_tile_chunks * chunk_taps * (span / 32); }
  std::int64_t source_bytes() const {
    return RoundUp(k_tile_chunks * chunk_bytes() + source_tail * span, 1024);
  }
  std::int64_t filter_bytes() const {
    return (k_tile_chunks * filter_rows + filter_tail) * filter_row_bytes();
  }
  std::int64_t filter_row_bytes() const { return span * filter_bits / 8; }
  std::int64_t stage_bytes() const { return source_bytes() + RoundUp(filter_bytes(), 1024); }
};

// Positions of the traversal of one product.
std::int64_t Im2colRows(const Problem& problem, const ConvFacts& facts, const KTiling& k_tiling);

// Channels of a tile that are loaded: with config.packed_rows all of them.
std::int64_t LoadedChannels(const Problem& problem, const ConvFacts& facts);

KTiling ByTaps(const Problem& problem, const ConvFacts& facts);

// One copy with stride 1, four for 3x3 with stride 2. False if the problem has no patch. filter_rows:
// a Slicing's.
bool ByPatch(const Problem& problem, const ConvFacts& facts, std::int64_t filter_rows,
             KTiling* k_tiling);

// Clocks of TMA for a k tile's rows.
double TmaClocks(const Problem& problem, const ConvFacts& facts, const KTiling& k_tiling);

// Clocks of 32 channels and all taps, for one useful position of a tile.
double ClocksOf(const Problem& problem, const ConvFacts& facts, const KTiling& k_tiling);

}  // namespace weft::conv
