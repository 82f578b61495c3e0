// What a depthwise kernel is launched with, and which outputs a thread has. Made on the host
// (conv/depthwise/depthwise_plan.hpp); the same bytes for both back ends.
#pragma once

#include <cstdint>

#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

// A thread's outputs: kColumns columns from q on, of as many rows from p on as its kernel takes, of
// channels k to k + 3 of image n.
struct DepthwiseTile {
  std::int32_t n = 0, p = 0, q = 0, k = 0;
};

// Rows m of a thread's outputs, for the epilogue (gemm/policy/output_params.hpp): row by row of the
// image.
struct DepthwiseRows : gemm::RowsTraits {
  static constexpr int kColumns = DepthwiseConfig::kColumns;
  static constexpr bool kFilterZerosInSums = true;
  std::int32_t p = 0, q = 0;  // output rows and columns
  std::int32_t run = 1;       // NCxHWx<4>: adjacent pixels that one store may write, 1, 2 or 4

  template <class Tile>
  static constexpr bool kUnaligned = false;

  constexpr gemm::OutputPixel Pixel(const DepthwiseTile& tile, std::int32_t m) const {
    const std::int32_t row = tile.p + m / kColumns, column = tile.q + m % kColumns;
    return {tile.n, row * q + column, row < p && column < q};
  }
  constexpr std::int32_t Row(const DepthwiseTile&, std::int32_t pq, std::int32_t& column) const {
    column = pq % q;
    return pq / q;
  }
  constexpr std::int32_t FirstChannel(const DepthwiseTile& tile) const { return tile.k; }
  constexpr std::int32_t EndChannel(const DepthwiseTile&, std::int32_t k) const { return k; }
};

// Source, filter, and how threads divide the outputs.
struct DepthwiseIteratorParams {
  const void* src = nullptr;
  const void* filter = nullptr;  // KRSx4x4
  std::int64_t image_bytes = 0, row_bytes = 0;
  std::int64_t block_bytes = 0;  // from a channel block of an image to the next
  std::int32_t h = 0, w = 0, pixel_bytes = 0;
  // Input row of output row p and tap r: p * stride_h + base_h + r * step_h; columns likewise.
  std::int32_t base_h = 0, base_w = 0;
  // Any shape: output columns, filter rows and columns.
  std::int32_t q = 0, r = 0, s = 0, stride_h = 0, stride_w = 0, step_h = 0, step_w = 0;
  gemm::FastDivmod channel_tiles;       // by the blocks side by side along the channels
  gemm::FastDivmod columns, row_tiles;  // by the threads that share a row, those below one another
  gemm::FastDivmod multiplier;          // by K / C
  std::int32_t tiles = 0;               // threads that have outputs of the same channels

  // Number `index` of those threads: its outputs, of channel 0, in `rows` rows.
  constexpr DepthwiseTile Tile(std::int32_t index, std::int32_t rows) const {
    std::int32_t column = 0, row_tile = 0;
    const std::int32_t row = columns.Divmod(index, column);
    const std::int32_t n = row_tiles.Divmod(row, row_tile);
    return {n, row_tile * rows, column * DepthwiseConfig::kColumns};
  }
};

template <class PolicyT>
struct DepthwiseParams {
  DepthwiseIteratorParams iterator;
  gemm::OutputParams<PolicyT, DepthwiseRows> output;
};

}  // namespace weft::conv
