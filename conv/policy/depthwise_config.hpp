// The config of a depthwise operator, and the list of its kernels.
#pragma once

#include "weft/gemm/tile/config.hpp"

namespace weft::conv {

// A thread works on 4 channels of 4 adjacent output pixels, in `rows` rows one below the other; it
// takes fewer rows for filters larger than 3 x 3 and for stride 2. `lanes` neighbouring threads
// take neighbouring channels, the other threads of a block other pixels. With 8 lanes they load
// whole sectors (32 bytes) where the source has 32 or more channels of a pixel side by side; 1 lane
// is for NCxHWx<4>.
struct DepthwiseConfig {
  static constexpr gemm::Mainloop kMainloop = gemm::Mainloop::kOther;
  [[gnu::visibility("hidden")]] static constexpr char kName[] = "depthwise";
  static constexpr int kColumns = 4;  // adjacent output pixels of one thread
  int rows;                           // 1 to 8
  int lanes;                          // 1, 2, 4, 8, 16 or 32 threads
  int threads;                        // of a block
  gemm::Alignment alignment;          // dst: bytes of at most 4 channels
  int registers = 0;

  // dst_alignment: 4 bytes fit int8 outputs in every layout with 4 or more channels side by side.
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

// kDepthwise4 and kDepthwise32, the named rows of the table of tiles.
#define WEFT_NAMED_TILE(type, constant, value, ...) \
  [[gnu::visibility("hidden")]] inline constexpr auto constant = value;
#define WEFT_NAMED_FUSED_TILE(...)
#include "weft/conv/policy/tiles.def"

// The shape that a depthwise kernel is compiled for: filter rows and columns and the stride, the
// same in both directions, without dilation and not flipped. All 0: the kernel takes any shape.
struct DepthwiseShape {
  int r = 0, s = 0, stride = 0;

  constexpr bool IsAny() const { return r == 0; }
  // Output rows of a thread. Larger filters, and stride 2, have fewer, since these rows then read
  // many rows of the source.
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
