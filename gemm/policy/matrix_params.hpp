// The operands' part of the parameters of a matrix product's kernel. The host makes it, with the
// same bytes for both back ends.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::gemm {

// What is known of a matrix at compile time.
//
// kKMajor: k runs along memory; otherwise the matrix is MN-major. kWhole: no ragged k, its rows are
// a multiple of config.alignment.src bytes. kShared: all groups of a Grouped product have their
// rows in this matrix; a tile's group has tile.rows of them, from tile.first_row on.
template <bool kKMajor_, bool kWhole_, bool kShared_ = false>
struct MatrixKind {
  static constexpr bool kKMajor = kKMajor_, kWhole = kWhole_, kShared = kShared_;
};

// One operand: `extent` rows of A, or columns of B, of k elements each. In a K-major operand (a
// row-major A, a column-major B) these rows or columns are `pitch` elements apart. In an MN-major
// one successive k are `pitch` elements apart, and the rows of A (columns of B) run along memory.
struct MatrixParams {
  const void* data = nullptr;
  std::int64_t pitch = 0;
  std::int32_t extent = 0;
  std::int32_t k = 0;
  std::int32_t first_k = 0;  // 0, or less: the first k tile begins before the matrix does
  std::int64_t step = 0;     // elements from one product's matrix to the next one's; 0: the same
};

// MatrixParams, with the functor's run-time values for an operand that has a load functor.
template <class Load>
struct WithLoadParams : MatrixParams {
  Load load{};
};
template <class Load>
using LoadedParams = std::conditional_t<kLoads<Load>, WithLoadParams<Load>, MatrixParams>;

// C as the epilogue sees it: "pixels" are rows m, "channels" are columns n, and extents.h carries
// the leading dimension.
template <class Major>
struct MatrixFormat {
  static constexpr bool kRowMajor = std::is_same_v<Major, layouts::RowMajor>;
  static constexpr int kChannelRun = kRowMajor ? 0 : 1;
  static constexpr std::int64_t ImageStride(const TensorExtents&) { return 0; }
  static constexpr std::int64_t ChannelOffset(const TensorExtents& e, std::int64_t n) {
    return kRowMajor ? n : n * e.h;
  }
  static constexpr std::int64_t PixelStride(const TensorExtents& e) { return kRowMajor ? e.h : 1; }
};

}  // namespace weft::gemm
