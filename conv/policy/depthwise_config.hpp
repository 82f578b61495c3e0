// The numbers of a depthwise operator, and the kernels that it has.
#pragma once

#include "weft/gemm/tile/config.hpp"

namespace weft::conv {

// A thread works on 4 channels of 4 output pixels of a row, in `rows` rows one below the other;
// larger filters than 3 x 3 and stride 2 take fewer. `lanes` neighbouring threads take neighbouring
// channels, the others of a block other pixels: 8 make whole sectors of memory where the source has
// 32 channels of a pixel side by side or more, 1 is for NCxHWx<4>.
struct DepthwiseConfig {
  static constexpr gemm::Mainloop kMainloop = gemm::Mainloop::kOther;
  static constexpr char kName[] = "depthwise";
  static constexpr int kColumns = 4;  // output pixels of a row, of one thread
  int rows;                           // 1 to 8
  int lanes;                          // 1, 2, 4, 8, 16 or 32
  int threads;                        // of a block
  gemm::Alignment alignment;          // dst: at most 4 channels
  int registers = 0;

  // dst_alignment: 4 fits int8 in every layout of 4 channels side by side or more.
  constexpr DepthwiseConfig(int row_count, int lane_count, int thread_count = 128,
                            int dst_alignment = 4)
      : rows(row_count), lanes(lane_count), threads(thread_count), alignment{4, dst_alignment} {}
  // NOLINTNEXTLINE(runtime/explicit): a view of the same
  constexpr operator gemm::TileDescription() const {
    const int pixels = rows * kColumns, channels = 4 * lanes;
    return {.mainloop = kMainloop,
            .threadblock = {threads / lanes * pixels, channels, 4},
            .warp = {32 / lanes * pixels, channels, 4},
            .thread = {pixels, 4, 4},
            .instruction = {1, 1, 4},
            .stages = 1,
            .alignment = alignment,
            .other = kName};
  }
};

// kDepthwise4 and kDepthwise32, of the table of tiles.
#define WEFT_NAMED_TILE(type, constant, value, ...) inline constexpr auto constant = value;
#define WEFT_NAMED_FUSED_TILE(...)
#include "weft/conv/policy/tiles.def"

// A kernel of a depthwise operator: filter rows and columns and the stride, both directions' alike,
// without dilation, not flipped. All 0: any of these.
struct DepthwiseShape {
  int r = 0, s = 0, stride = 0;

  constexpr bool IsAny() const { return r == 0; }
  // Output rows of a thread: fewer where many rows of the source or of the filter meet in them.
  constexpr int Rows(int config_rows) const {
    if (IsAny() || r > 5) return 1;
    if (r > 3) return config_rows < 2 ? config_rows : 2;
    return stride == 1 ? config_rows : (config_rows + 1) / 2;
  }
};
inline constexpr DepthwiseShape kDepthwiseShapes[] = {{},        {3, 3, 1}, {3, 3, 2}, {5, 5, 1},
                                                      {5, 5, 2}, {7, 7, 1}, {7, 7, 2}};
inline constexpr int kDepthwiseKernels = sizeof(kDepthwiseShapes) / sizeof(kDepthwiseShapes[0]);

}  // namespace weft::conv
