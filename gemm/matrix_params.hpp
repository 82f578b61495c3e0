// What the kernel of a matrix product is given; made on the host, the same bytes for both back
// ends.
#pragma once

#include <cstdint>

#include "weft/gemm/output_params.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::gemm {

// One operand: `extent` rows of A, or columns of B, of k elements each. Where k runs along memory
// (A row-major, B column-major) these are `pitch` elements apart; else the k are, and the rows of A
// (columns of B) run along memory.
struct MatrixParams {
  const void* data = nullptr;
  std::int64_t pitch = 0;
  std::int32_t extent = 0;
  std::int32_t k = 0;
  std::int32_t first_k = 0;  // 0, or less: the first slice begins before the matrix does
};

// C as the epilogue sees it: "pixels" are rows m, "channels" are columns n, and extents.h carries
// the leading dimension.
template <class Major>
struct MatrixFormat;
template <>
struct MatrixFormat<layouts::RowMajor> {
  static constexpr int kChannelRun = 0;
  static constexpr std::int64_t ImageStride(const TensorExtents&) { return 0; }
  static constexpr std::int64_t ChannelOffset(const TensorExtents&, std::int64_t n) { return n; }
  static constexpr std::int64_t PixelStride(const TensorExtents& e) { return e.h; }
};
template <>
struct MatrixFormat<layouts::ColumnMajor> {
  static constexpr int kChannelRun = 1;
  static constexpr std::int64_t ImageStride(const TensorExtents&) { return 0; }
  static constexpr std::int64_t ChannelOffset(const TensorExtents& e, std::int64_t n) {
    return n * e.h;
  }
  static constexpr std::int64_t PixelStride(const TensorExtents&) { return 1; }
};

}  // namespace weft::gemm
