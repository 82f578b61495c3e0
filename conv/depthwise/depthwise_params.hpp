// What a depthwise kernel is launched with, and which outputs a thread has. The host makes the
// parameters (conv/depthwise/depthwise_plan.hpp), and both back ends read the same bytes.
#pragma once

#include <cstdint>

#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

// The outputs of a thread: kColumns columns from q on, in as many rows from p on as its kernel
// takes, of channels k to k + 3 of image n.
struct DepthwiseTile {
  std::int32_t n = 0, p = 0, q = 0, k = 0;
};

// The rows m of the epilogue (gemm/policy/output_params.hpp): a thread's pixels, one row of the
// image after the other.
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

// The source, the filter, and how the threads divide the outputs among them.
struct DepthwiseIteratorParams {
  const void* src = nullptr;
  const void* filter = nullptr;  // KRSx4x4
  std::int64_t image_bytes = 0, row_bytes = 0;
  std::int64_t block_bytes = 0;  // bytes from a channel block of an image to the next
  std::int32_t h = 0, w = 0, pixel_bytes = 0;
  // Input row of output row p and tap r: p * stride_h + base_h + r * step_h; columns in the same
  // way.
  std::int32_t base_h = 0, base_w = 0;
  // For the kernel of any shape: output columns, filter rows and columns, strides and steps.
  std::int32_t q = 0, r = 0, s = 0, stride_h = 0, stride_w = 0, step_h = 0, step_w = 0;
  // Divides by the number of blocks that have the same pixels and different channels.
  gemm::FastDivmod channel_tiles;
  // columns divides by the threads side by side in a row of outputs; row_tiles by the threads below
  // each other that cover the rows of an image.
  gemm::FastDivmod columns, row_tiles;
  gemm::FastDivmod multiplier;  // divides by K / C
  std::int32_t tiles = 0;       // threads that have the same channels

  // The outputs of thread `index` of those `tiles`, for channel 0 and `rows` rows to a thread.
  constexpr DepthwiseTile Tile(std::int32_t index, std::int32_t rows) const {
    std::int32_t column = 0, row_tile = 0;
    const std::int32_t row = columns.Divmod(index, column);
    const std::int32_t n = row_tiles.Divmod(row, row_tile);
    return {n, row_tile * rows, column * DepthwiseConfig::kColumns};
  }
};

template <class Epilogue>
struct DepthwiseParams {
  DepthwiseIteratorParams iterator;
  gemm::OutputParams<Epilogue, DepthwiseRows> output;
};

}  // namespace weft::conv
