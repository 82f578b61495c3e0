// Packed output rows (config.packed_rows = 2), for few output channels: of the 64 columns that an
// instruction multiplies, 32 are channels of an output row and 32 the same channels of the row
// below.
//
// That is a convolution with twice the stride along H whose taps are those of both rows: the lower
// row's taps begin `shift` rows of taps behind the upper row's. Where the taps of both rows
// coincide one step serves both, so that 3x3 and 64 channels take 24 steps instead of 36; elsewhere
// half of the columns are multiplied by zeros. The filter is packed as for other tiles and loaded
// once: row after row of taps, with `shift` rows of zeros before and behind, which TMA makes of
// coordinates outside of the filter. The 32 channels of row x - shift and those of row x form one
// matrix where these rows lie side by side in shared memory, so that a copy loads every shift-th
// row of taps.
#pragma once

#include <cstdint>

#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

struct KTiling;
struct TmaPlan;

// How the filter of a convolution `p` is loaded and multiplied, for a tile of `channels` channels.
struct PackedRowsTaps {
  Problem pairs;           // the convolution whose rows are pairs of p's
  std::int64_t shift = 1;  // also the number of copies of the filter for a block of channels
  std::int64_t rows = 0;   // rows of taps in each of these copies

  // FilterRows: the rows in shared memory of all copies, each the bytes of one output channel and
  // tap. RowOfTap: the first of them that tap number `tap` of `pairs` multiplies; taps count from
  // the last one on with Mode::kConvolution.
  std::int64_t FilterRows(const Problem& p, std::int64_t channels) const {
    return shift * rows * p.s * channels;
  }
  std::int64_t RowOfTap(const Problem& p, std::int64_t channels, std::int64_t tap) const {
    const std::int64_t x = tap / p.s;
    return ((x % shift * p.s + tap % p.s) * rows + x / shift) * channels;
  }
  // The share of the loaded rows of taps that the filter has; the others are zeros.
  double Inside(const Problem& p) const {
    return static_cast<double>(p.r) / static_cast<double>(shift * rows);
  }

  // Fills in plan->filter and plan->filter_spec.
  void FillFilter(const Problem& p, const ConvFacts& f, const KTiling& k_tiling,
                  TmaPlan* plan) const;
};

// The packed rows of a problem. InvalidArgument where a group has more output channels than a tile,
// where stride_h is no multiple of dilation_h, and where two output rows share no row of taps.
absl::StatusOr<PackedRowsTaps> PackRows(const Problem& p, const ConvFacts& f);

// The error for a problem that packed output rows do not take, InvalidArgument: `why`, and what to
// do.
absl::Status NoPackedRows(absl::string_view why);

}  // namespace weft::conv
