// How a k tile of a wgmma_sm90 convolution is composed, by taps or by a patch
// (conv/plan/wgmma_plan.hpp explains both), and how many clocks TMA takes to load it.
#pragma once

#include <cassert>
#include <cstdint>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"

namespace weft::conv {

// The composition of a k tile: k_tile_chunks chunks, each of some channels of one tap or of all
// taps. A row of a chunk is the channels of one position, or of one output channel of the filter.
struct KTiling {
  bool patch = false;
  std::int64_t row_bytes = 32;     // of a row of the source, also its swizzle: 32, 64 or 128
  std::int64_t element_bytes = 0;  // TileFacts::element_bytes
  std::int64_t chunk_taps = 1;     // taps of a chunk: 1, or all R * S
  std::int64_t filter_rows = 0;    // rows of the filter in a chunk
  std::int64_t filter_bits = 8;    // bits of a value of the filter
  // Rows behind those of a k tile that tensor cores read and TMA does not load, because the tile is
  // larger than the product.
  std::int64_t filter_tail = 0, source_tail = 0;
  std::int64_t chunks = 0;  // chunks of all k
  std::int64_t k_tile_chunks = 1;
  std::int64_t copies_h = 1, copies_w = 1;  // copies of the source for a chunk
  std::int64_t pixels = 0;                  // pixels (positions) of a copy
  std::int64_t pitch_w = 0, pitch_h = 0;    // positions of a row, and rows of an image
  std::int64_t stages = 0;

  // Of a chunk.
  std::int64_t channels() const {
    assert(element_bytes > 0);
    return row_bytes / element_bytes;
  }
  std::int64_t row_steps() const { return row_bytes / 32; }  // of wgmma, each of 32 bytes of k
  std::int64_t copies() const { return copies_h * copies_w; }
  std::int64_t rows() const { return k_tile_chunks * copies() * pixels; }  // loaded for a k tile
  std::int64_t copy_bytes() const { return pixels * row_bytes; }
  std::int64_t chunk_bytes() const { return copies() * copy_bytes(); }
  std::int64_t steps() const { return k_tile_chunks * chunk_taps * row_steps(); }
  std::int64_t source_bytes() const {
    return RoundUp(k_tile_chunks * chunk_bytes() + source_tail * row_bytes, 1024);
  }
  std::int64_t filter_bytes() const {
    return (k_tile_chunks * filter_rows + filter_tail) * filter_row_bytes();
  }
  std::int64_t filter_row_bytes() const { return channels() * filter_bits / 8; }
  std::int64_t stage_bytes() const { return source_bytes() + RoundUp(filter_bytes(), 1024); }
};

// Positions of the traversal of one product.
std::int64_t Im2colRows(const Problem& problem, const ConvFacts& facts, const KTiling& k_tiling);

// The output channels of a tile whose filters are loaded: as many as the product has, rounded up to
// 8, or the tile if it has fewer; with config.packed_rows always those of the tile.
std::int64_t LoadedChannels(const Problem& problem, const ConvFacts& facts);

// A k tile with a copy of the source for each tap.
KTiling ByTaps(const Problem& problem, const ConvFacts& facts);

// A k tile with patches: one copy of the source for all taps with stride 1, four for 3x3 with
// stride 2. False if there is a single tap, or if two stages do not fit. filter_rows: KTiling's.
bool ByPatch(const Problem& problem, const ConvFacts& facts, std::int64_t filter_rows,
             KTiling* k_tiling);

// The clocks that TMA takes to load the source of a k tile.
double TmaClocks(const Problem& problem, const ConvFacts& facts, const KTiling& k_tiling);

// The clocks that 32 channels of all taps take, divided by the useful positions of a tile. The way
// of loading with fewer clocks is chosen.
double ClocksOf(const Problem& problem, const ConvFacts& facts, const KTiling& k_tiling);

}  // namespace weft::conv
