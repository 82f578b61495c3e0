// How a slice of k of a wgmma_sm90 convolution is made up, by taps or by a patch (conv/wgmma_plan.hpp), and what
// that costs the copy engine.
#pragma once

#include <cstdint>

#include "weft/conv/facts.hpp"
#include "weft/conv/problem.hpp"

namespace weft::conv {

// How a slice is made up.
struct Slicing {
  bool patch = false;
  std::int64_t span = 32;        // channels of a chunk
  std::int64_t chunk_taps = 1;   // and how many of the filter's taps
  std::int64_t filter_rows = 0;  // and rows of `span` values of the filter
  std::int64_t filter_bits = 8;  // of such a value
  // Rows behind a slice's that products read, and nobody brings: of a tile that is larger than the product.
  std::int64_t filter_tail = 0, source_tail = 0;
  std::int64_t chunks = 0;  // of k
  std::int64_t slice_chunks = 1;
  std::int64_t copies_h = 1, copies_w = 1;  // of the source, for a chunk
  std::int64_t pixels = 0;                  // of a copy
  std::int64_t pitch_w = 0, pitch_h = 0;    // of the walk
  std::int64_t stages = 0;

  std::int64_t copies() const { return copies_h * copies_w; }
  std::int64_t rows() const { return slice_chunks * copies() * pixels; }  // of a slice
  std::int64_t copy_bytes() const { return pixels * span; }
  std::int64_t chunk_bytes() const { return copies() * copy_bytes(); }
  std::int64_t steps() const { return slice_chunks * chunk_taps * (span / 32); }
  std::int64_t source_bytes() const {
    return RoundUp(slice_chunks * chunk_bytes() + source_tail * span, 1024);
  }
  std::int64_t filter_bytes() const {
    return (slice_chunks * filter_rows + filter_tail) * filter_row_bytes();
  }
  std::int64_t filter_row_bytes() const { return span * filter_bits / 8; }
  std::int64_t stage_bytes() const { return source_bytes() + RoundUp(filter_bytes(), 1024); }
};

// Positions of the walk of one product.
std::int64_t WalkRows(const Problem& problem, const ConvFacts& facts, const Slicing& slicing);

// Channels of a tile that are brought: with config.stack all of them.
std::int64_t BroughtChannels(const Problem& problem, const ConvFacts& facts);

Slicing ByTaps(const Problem& problem, const ConvFacts& facts);

// One copy with stride 1, four for 3x3 with stride 2. False if the problem has no patch. filter_rows:
// a Slicing's.
bool ByPatch(const Problem& problem, const ConvFacts& facts, std::int64_t filter_rows,
             Slicing* slicing);

// Clocks of the copy engine for a slice's rows.
double EngineClocks(const Problem& problem, const ConvFacts& facts, const Slicing& slicing);

// Clocks of 32 channels and all taps, for one useful position of a tile.
double ClocksOf(const Problem& problem, const ConvFacts& facts, const Slicing& slicing);

}  // namespace weft::conv
