// The matrix product kernel of the simt family: the mainloop and the epilogue of the convolution,
// between matrix operand tiles.
#pragma once

#include "weft/gemm/fragment_epilogue.hpp"
#include "weft/gemm/matrix_tile.hpp"
#include "weft/gemm/output_params.hpp"
#include "weft/gemm/simt_config.hpp"
#include "weft/gemm/simt_mainloop.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::gemm {

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

inline namespace WEFT_BACKEND {

template <class P>
struct SimtGemmKernel {
  using Geometry = SimtGeometry<CheckedSimtTiles<P>>;
  using MainloopType = SimtMainloop<Geometry>;

  using Params = GemmParams<P>;
  using SharedStorage = typename MainloopType::SharedStorage;
  static constexpr int kThreads = Geometry::kThreads;
  static constexpr int kMinBlocksPerSm = Geometry::kMinBlocksPerSm;
  static constexpr int kMinComputeCapability = 75;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    int tile_n = 0;
    const int tile_m = p.tiles_n.Divmod(t.block_x(), tile_n);

    constexpr int kAlignment = P::config.alignment.src;
    MatrixTile<Geometry, Geometry::kBlockM, kAlignment, true> a(t, p.a, tile_m);
    MatrixTile<Geometry, Geometry::kBlockN, kAlignment, false> b(t, p.b, tile_n);
    typename MainloopType::Accumulators acc = {};
    if (!MainloopType::Run(t, shared, a, b, p.slices, acc)) return;

    using Epilogue = FragmentEpilogue<GemmEpiloguePolicy<P>, SimtMap<Geometry>, OutputParams<P>>;
    Epilogue::Run(t, p.output, tile_m * Geometry::kBlockM, tile_n * Geometry::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND

// Launches policy P's kernel on the GPU; see conv/launch.hpp.
template <class P>
[[gnu::weak]] arch::LaunchResult LaunchGemmOnGpu(const GemmParams<P>& params, arch::Dim3 grid,
                                                 Stream stream);

}  // namespace weft::gemm
