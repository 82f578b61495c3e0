// The epilogue's part of a kernel's parameters; made on the host, the same bytes for both back
// ends.
#pragma once

#include <cstdint>
#include <type_traits>

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

// Rows of the Cs of a batch, as places in one matrix in which all of them lie: a single image of one row
// of pixels. That of a product begins row_step rows and column_step columns behind that of the one
// before, so that a thread keeps no offset of 64 bits.
struct MatrixRows : RowsTraits {
  static constexpr bool kCountsProducts = true;
  std::int32_t rows = 0;  // of a product
  std::int32_t row_step = 0, column_step = 0;
  std::int32_t value_step = 0;  // from a product's biases and scales to the next one's

  // Whether a tile's first channel may begin within a run of adjacent channels.
  template <class Tile>
  static constexpr bool kUnaligned = false;

  // Where the rows of the tile's product begin. A kernel's m counts from there on.
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
    // Unsigned, or the compiler would compare the row in the product, and keep it beside the other.
    const auto end = static_cast<std::uint32_t>(FirstRow(tile)) + static_cast<std::uint32_t>(own);
    return {0, m, m < static_cast<std::int32_t>(end)};
  }
  template <class Tile>
  constexpr std::int32_t Row(const Tile& tile, std::int32_t pq, std::int32_t& q) const {
    q = pq;
    if constexpr (!Tile::kGrouped) q -= FirstRow(tile);
    return 0;
  }
  // Of a tile, what coordinates say beside the row: the product, and where its columns begin.
  template <class Tile>
  constexpr std::int32_t Product(const Tile& tile) const {
    return tile.product;
  }
  // The output channels that the tile's product has: [FirstChannel, EndChannel) of `k`.
  template <class Tile>
  constexpr std::int32_t FirstChannel(const Tile& tile) const {
    return tile.product * column_step;
  }
  template <class Tile>
  constexpr std::int32_t EndChannel(const Tile& tile, std::int32_t k) const {
    return tile.product * column_step + k;
  }
  // From a channel to its bias, scale and other values.
  template <class Tile>
  constexpr std::int32_t ValueOffset(const Tile& tile) const {
    return tile.product * (value_step - column_step);
  }
};

// What the zero points of an Epilogue read (conv/zero_point/source_correction.hpp).
template <bool kSource, bool kPaddingIsFilled>
struct SourceZeroPointParams {};
template <>
struct SourceZeroPointParams<true, true> {
  const std::int32_t* correction = nullptr;  // by channel
};
template <>
struct SourceZeroPointParams<true, false> {
  const std::int32_t* correction = nullptr;  // of the pixels that see all taps, by channel
  const std::int32_t* edges = nullptr;       // what others add to that, likewise; first of zeros
  // Where those of a pixel begin: the sum of what belongs to its row and its column. Null: all
  // pixels see all taps.
  const std::int32_t* edge_rows = nullptr;
  const std::int32_t* edge_columns = nullptr;
};
template <bool kFilter, bool kInSums>
struct FilterZeroPointParams {};
template <>
struct FilterZeroPointParams<true, true> {
  const std::int32_t* filter_zero_point = nullptr;  // by channel
};
template <>
struct FilterZeroPointParams<true, false> {
  const std::int32_t* filter_zero_point = nullptr;  // by channel
  const std::int32_t* window_sums = nullptr;        // by image, channel group and pixel
  std::int32_t groups = 1;
  std::int32_t group_channels = 1;  // output channels of one
  std::int32_t plane = 0;           // pixels of an image
};

// Epilogue and destination of an operator of policy PolicyT, whose rows are Rows: MatrixRows or
// conv::PixelMap.
template <class PolicyT, class RowsT>
struct OutputParams
    : SourceZeroPointParams<PolicyT::Epilogue::kSourceZeroPoint, RowsT::kPaddingIsFilled>,
      FilterZeroPointParams<PolicyT::Epilogue::kFilterZeroPoint, RowsT::kFilterZerosInSums> {
  using Rows = RowsT;
  using Epilogue = typename PolicyT::Epilogue;
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
  std::int32_t padded_k = 0;  // and with the zero channels of the destination's last block
  Rows rows;
  TensorExtents extents;  // of dst
  Epilogue epilogue;

  // Where gamma is 0, what lies there counts for nothing, NaN included.
  constexpr bool ReadsResidual() const { return !(gamma == Value{0}); }
};

}  // namespace weft::gemm
