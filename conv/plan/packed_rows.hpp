// Tiles of few channels (config.packed_rows = 2): of the 64 columns that an instruction multiplies,
// 32 are channels of an output row and 32 the same channels of the row below it.
//
// That is a convolution of twice the stride along H, whose taps are those of both rows: the lower
// one's begin `shift` rows of taps behind the upper one's. Where they lie over one another a step
// serves both rows, 24 steps instead of 36 for 3x3 and 64 channels; elsewhere one half multiplies
// zeros. The filter is packed as ever and comes once: row after row of taps, with `shift` rows of
// zeros before and behind, which TMA makes of coordinates outside of the filter. 32
// channels of row x - shift and of row x then are one matrix where these rows lie side by side, so
// that there is a copy for every shift-th row of taps.
#pragma once

#include <cstdint>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

struct TmaPlan;

// Of a convolution p and a tile of `channels` channels.
struct PackedRowsTaps {
  Problem pairs;           // the convolution whose rows are pairs of p's
  std::int64_t shift = 1;  // copies of the filter for a block of channels, too
  std::int64_t rows = 0;   // of taps in each of them

  // Rows of one channel's bytes, of all copies; and the first that tap number `tap` of `pairs`
  // multiplies, counted from the last tap on with Mode::kConvolution.
  std::int64_t FilterRows(const Problem& p, std::int64_t channels) const {
    return shift * rows * p.s * channels;
  }
  std::int64_t RowOfTap(const Problem& p, std::int64_t channels, std::int64_t tap) const {
    const std::int64_t x = tap / p.s;
    return ((x % shift * p.s + tap % p.s) * rows + x / shift) * channels;
  }
  // The share of the rows of taps that the filter has.
  double Inside(const Problem& p) const {
    return static_cast<double>(p.r) / static_cast<double>(shift * rows);
  }

  // plan->filter and its specification. span: bytes of k of a chunk; k_tile_chunks: in a k tile.
  void FillFilter(const Problem& p, const ConvFacts& f, std::int64_t span, std::int64_t chunks,
                  std::int64_t k_tile_chunks, TmaPlan* plan) const;
};

// InvalidArgument where a group has more than 32 channels, where stride_h is no multiple of
// dilation_h, and where two output rows share no row of taps.
absl::StatusOr<PackedRowsTaps> PackRows(const Problem& p, const ConvFacts& f);

// InvalidArgument: `why`, and what to do about it.
absl::Status NoPackedRows(absl::string_view why);

}  // namespace weft::conv
