// What the kernels of a matrix product are given; made on the host, the same bytes for both back
// ends.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/backend.hpp"
#include "weft/gemm/arch/launch_result.hpp"
#include "weft/gemm/config.hpp"
#include "weft/gemm/fast_divmod.hpp"
#include "weft/gemm/output_params.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::gemm {

// The type that products of Elements are summed in; void for types that are not multiplied.
template <class Element>
struct SumOf {
  using type = void;
};
template <>
struct SumOf<std::int8_t> {
  using type = std::int32_t;
};
template <>
struct SumOf<Half> {
  using type = float;
};
template <>
struct SumOf<Bfloat16> {
  using type = float;
};
template <>
struct SumOf<float> {
  using type = float;
};
template <>
struct SumOf<double> {
  using type = double;
};

// One operand: `extent` rows of A, or columns of B, of k elements each. Where k runs along memory
// (A row-major, B column-major) these are `pitch` elements apart; else the k are, and the rows of A
// (columns of B) run along memory.
struct MatrixParams {
  const void* data = nullptr;
  std::int64_t pitch = 0;
  std::int32_t extent = 0;
  std::int32_t k = 0;
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

template <class P>
struct GemmParams {
  MatrixParams a, b;
  OutputParams<P> output;
  FastDivmod tiles_n;
  std::int32_t slices = 0;
};

// What FragmentEpilogue wants to know of a GEMM policy P (gemm/gemm.hpp).
template <class P>
struct GemmEpiloguePolicy {
  using DstLayout = MatrixFormat<typename P::LayoutC>;
  using Epilogue = typename P::Epilogue;
  static constexpr Config config = P::config;
};

// Whether k runs along memory in A, in B.
template <class P>
inline constexpr bool kLinesOfA = std::is_same_v<typename P::LayoutA, layouts::RowMajor>;
template <class P>
inline constexpr bool kLinesOfB = std::is_same_v<typename P::LayoutB, layouts::ColumnMajor>;

// Launches policy P's kernel on the GPU; see conv/launch.hpp.
template <class P>
[[gnu::weak]] arch::LaunchResult LaunchGemmOnGpu(const GemmParams<P>& params, arch::Dim3 grid,
                                                 Stream stream);

}  // namespace weft::gemm
