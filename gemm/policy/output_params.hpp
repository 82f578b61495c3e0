// The epilogue's part of a kernel's parameters. The host makes it, with the same bytes for both
// back ends.
#pragma once

#include <cstdint>

#include "weft/gemm/tile/fast_divmod.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {

// A row of the product as a place in the output: pixel `pq` (row * Q + column) of image n.
struct OutputPixel {
  std::int32_t n = 0;
  std::int32_t pq = 0;
  bool inside = false;
};

// Where the pooled pixels of a place begin (gemm/staged/pooled_store.hpp): row p and column q of the
// pooled image n, of which the first window begins at output column first_q.
struct PooledPlace {
  std::int32_t n = 0, p = 0, q = 0, first_q = 0;
};

// Rows of the Cs of a batch, as places in the one matrix in which all Cs lie, which the epilogue
// sees as a single image of one row of pixels. The C of each product begins row_step rows and
// column_step columns behind that of the product before it, so that a thread keeps no 64-bit
// offset.
struct MatrixRows : RowsTraits {
  static constexpr bool kCountsProducts = true;
  std::int32_t rows = 0;  // of one product
  std::int32_t row_step = 0, column_step = 0;
  std::int32_t value_step = 0;  // elements from one product's biases and scales to the next one's

  // Whether a tile's first channel may lie within a run of adjacent channels instead of at its
  // start.
  template <class Tile>
  static constexpr bool kUnaligned = false;

  // The first row of the tile's product, from which a kernel's m counts.
  template <class Tile>
  constexpr std::int32_t FirstRow(const Tile& tile) const {
    if constexpr (Tile::kGrouped) {
      return tile.first_row;
    } else {
      return tile.product * row_step;
    }
  }
  template <class Tile>
  constexpr OutputPixel Pixel(const Tile& tile, std::int32_t m) const {
    std::int32_t own = rows;
    if constexpr (Tile::kGrouped) own = tile.rows;
    // The end is computed unsigned: with signed numbers the compiler would compare the row within
    // the product instead, and keep it in a register beside m.
    const auto end = static_cast<std::uint32_t>(FirstRow(tile)) + static_cast<std::uint32_t>(own);
    return {0, m, m < static_cast<std::int32_t>(end)};
  }
  template <class Tile>
  constexpr std::int32_t Row(const Tile& tile, std::int32_t pq, std::int32_t& q) const {
    q = pq;
    if constexpr (!Tile::kGrouped) q -= FirstRow(tile);
    return 0;
  }
  // The number of the tile's product, which epilogues that use coordinates see as the image.
  template <class Tile>
  constexpr std::int32_t Product(const Tile& tile) const {
    return tile.product;
  }
  // The tile's product has `k` output channels, [FirstChannel, EndChannel) of the common matrix.
  template <class Tile>
  constexpr std::int32_t FirstChannel(const Tile& tile) const {
    return tile.product * column_step;
  }
  template <class Tile>
  constexpr std::int32_t EndChannel(const Tile& tile, std::int32_t k) const {
    return tile.product * column_step + k;
  }
  // What is added to the number of a channel to get the index of its bias, scale and other values.
  template <class Tile>
  constexpr std::int32_t ValueOffset(const Tile& tile) const {
    return tile.product * (value_step - column_step);
  }
};

// What an Epilogue with a SourceZeroPoint reads (conv/zero_point/source_correction.hpp): int32
// values that it adds to the accumulators.
template <bool kSource, bool kPaddingIsFilled>
struct SourceZeroPointParams {};
template <>
struct SourceZeroPointParams<true, true> {
  const std::int32_t* correction = nullptr;  // one for each channel
};
template <>
struct SourceZeroPointParams<true, false> {
  const std::int32_t* correction = nullptr;  // one for each channel, of pixels that see all taps
  // What the pixels at the border add to `correction`: one value for each channel and kind of
  // pixel, the first kind's being zeros.
  const std::int32_t* edges = nullptr;
  // A pixel's values begin at edges[edge_rows[row] + edge_columns[column]]. edge_rows is null where
  // all pixels see all taps.
  const std::int32_t* edge_rows = nullptr;
  const std::int32_t* edge_columns = nullptr;
};
// What an Epilogue with a FilterZeroPoint reads; kInSums where the kernel has applied the zero
// points to its accumulators, so that the epilogue needs no sums of windows.
template <bool kFilter, bool kInSums>
struct FilterZeroPointParams {};
template <>
struct FilterZeroPointParams<true, true> {
  const std::int32_t* filter_zero_point = nullptr;  // one for each channel
};
template <>
struct FilterZeroPointParams<true, false> {
  const std::int32_t* filter_zero_point = nullptr;  // one for each channel
  const std::int32_t* window_sums = nullptr;        // one for each image, channel group and pixel
  std::int32_t groups = 1;
  std::int32_t group_channels = 1;  // output channels of a group
  std::int32_t plane = 0;           // pixels of an image
};

// Epilogue and destination of an operator. Rows says where the rows of its product lie in the
// output: MatrixRows, conv::PixelMap or one derived from that. Parameters know nothing of the tile,
// so that all policies of a family share what fills them in.
template <class EpilogueT, class RowsT>
struct OutputParams
    : SourceZeroPointParams<EpilogueT::kSourceZeroPoint, RowsT::kPaddingIsFilled>,
      FilterZeroPointParams<EpilogueT::kFilterZeroPoint, RowsT::kFilterZerosInSums> {
  using Rows = RowsT;
  using Epilogue = EpilogueT;
  using Output = typename Epilogue::Output;
  using ResidualElement = typename Epilogue::ResidualElement;
  using Value = typename Epilogue::Value;

  Output* dst = nullptr;
  const typename Epilogue::BiasElement* bias = nullptr;
  const Value* channel_alpha = nullptr;  // null: alpha for every channel
  const ResidualElement* residual = nullptr;
  Value alpha{1};
  float beta = 1.0f;
  Value gamma{1};
  float inverse_output_scale = 1.0f;
  float zero_point = 0.0f;
  std::int32_t k = 0;         // output channels
  std::int32_t padded_k = 0;  // k and the zero channels that fill the destination's last block
  Rows rows;
  TensorExtents extents;  // of dst
  Epilogue epilogue;

  // With a gamma of 0 the residual is not read, so that a NaN in it does not reach the output.
  constexpr bool ReadsResidual() const { return !(gamma == Value{0}); }
};

}  // namespace weft::gemm
