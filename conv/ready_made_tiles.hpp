// Tiles as types, for policies that are templates over them (conv/ready_made.hpp). A struct with a
// static constexpr `config` of one's own serves as well.
#pragma once

#include "weft/conv/depthwise_pointwise_policy.hpp"
#include "weft/conv/policy.hpp"

namespace weft::conv {

struct Tile128x128 {
  static constexpr auto config = kSimt128x128;
};
struct Tile128x64 {
  static constexpr auto config = kSimt128x64;
};
struct Tile128x32 {
  static constexpr auto config = kSimt128x32;
};
struct Tile64x128 {
  static constexpr auto config = SimtConfig({64, 128, 32}, {32, 64, 32}, {8, 8, 4});
};
struct Tile64x64 {
  static constexpr auto config = kSimt64x64;
};
struct Tile64x32 {
  static constexpr auto config = SimtConfig({64, 32, 64}, {32, 16, 64}, {4, 4, 4});
};
struct Tile32x32 {
  static constexpr auto config = kSimt32x32;
};
struct Tile32x32Deep {
  static constexpr auto config = kSimt32x32Deep;
};
// Few accumulators a thread: the quickest where sums are short and outputs few.
struct Tile32x32Wide {
  static constexpr auto config = SimtConfig({32, 32, 128}, {16, 16, 128}, {2, 4, 4});
};
// 8 warps share each warp tile, in slices of 256.
struct Tile32x32Deepest {
  static constexpr auto config = SimtConfig({32, 32, 256}, {32, 16, 32}, {4, 4, 4});
};

// The same for the mma_sm80 mainloop: tiles that weft_perf measures, so that its tuning tables name
// them.
struct Mma128x64 {
  static constexpr auto config = MmaSm80Config({128, 64, 64}, {64, 32, 64}, 4);
};
struct Mma128x128 {
  static constexpr auto config = kMma128x128;
};
// Fewer warps, each with more sums.
struct Mma128x128Wide {
  static constexpr auto config = MmaSm80Config({128, 128, 64}, {64, 64, 64}, 4);
};
struct Mma256x128 {
  static constexpr auto config = MmaSm80Config({256, 128, 64}, {64, 64, 64}, 3);
};
struct Mma128x256 {
  static constexpr auto config = MmaSm80Config({128, 256, 64}, {64, 64, 64}, 3);
};
struct Mma256x64 {
  static constexpr auto config = MmaSm80Config({256, 64, 64}, {64, 32, 64}, 3);
};
struct Mma128x32 {
  static constexpr auto config = MmaSm80Config({128, 32, 64}, {32, 32, 64}, 4);
};
// For 16 output channels and fewer.
struct Mma128x16 {
  static constexpr auto config = MmaSm80Config({128, 16, 128}, {32, 16, 128}, 3, 4);
};
struct Mma64x64 {
  static constexpr auto config = kMma64x64;
};
struct Mma64x64Deep {
  static constexpr auto config = MmaSm80Config({64, 64, 128}, {32, 32, 128}, 4);
};
struct Mma64x32 {
  static constexpr auto config = MmaSm80Config({64, 32, 64}, {32, 32, 64}, 4);
};
struct Mma64x32Deep {
  static constexpr auto config = MmaSm80Config({64, 32, 128}, {32, 32, 128}, 5);
};
struct Mma32x32Deep {
  static constexpr auto config = MmaSm80Config({32, 32, 256}, {16, 32, 256}, 4);
};
// For few positions, as of fully connected layers: four warps share each slice.
struct Mma16x32Sliced {
  static constexpr auto config = MmaSm80Config({16, 32, 256}, {16, 32, 64}, 6);
};

// And for mma_sm75, which GPUs without the mma_sm80 mainloop run.
struct MmaSm75Tile128x64 {
  static constexpr auto config = gemm::MmaSm75Config({128, 64, 64}, {64, 32, 64});
};
struct MmaSm75Tile64x32 {
  static constexpr auto config = gemm::MmaSm75Config({64, 32, 64}, {32, 32, 64});
};

// And for wgmma_sm90, which Hopper alone runs.
struct Wgmma128x256 {
  static constexpr auto config = kWgmma128x256;
};
// For deep layers whose positions fall into few tiles of more.
struct Wgmma96x256 {
  static constexpr auto config = WgmmaSm90Config({96, 256, 128}, {96, 128, 128});
};
struct Wgmma112x128 {
  static constexpr auto config = WgmmaSm90Config({112, 128, 128}, {112, 64, 128});
};
// Reads the least of shared memory for each product, and takes the most registers.
struct Wgmma256x128 {
  static constexpr auto config = WgmmaSm90Config({256, 128, 128}, {256, 64, 128});
};
struct Wgmma208x128 {
  static constexpr auto config = kWgmma208x128;
};
struct Wgmma224x128 {
  static constexpr auto config = WgmmaSm90Config({224, 128, 128}, {224, 64, 128});
};
struct Wgmma192x128 {
  static constexpr auto config = kWgmma192x128;
};
struct Wgmma128x128 {
  static constexpr auto config = kWgmma128x128;
};
struct Wgmma64x128 {
  static constexpr auto config = kWgmma64x128;
};
// For 64 output channels and large images: what a patch holds beyond its positions weighs less.
struct Wgmma224x64 {
  static constexpr auto config = WgmmaSm90Config({224, 64, 128}, {224, 64, 128});
};
struct Wgmma192x64 {
  static constexpr auto config = kWgmma192x64;
};
struct Wgmma112x64 {
  static constexpr auto config = kWgmma112x64;
};
struct Wgmma96x128 {
  static constexpr auto config = kWgmma96x128;
};
// A multiprocessor to itself: products of long sums whose tiles of 128 would be few too many.
struct Wgmma96x128Deep {
  static constexpr auto config = WgmmaSm90Config({96, 128, 128}, {96, 64, 128}, 1);
};
// A warpgroup to a block, two blocks to a multiprocessor: one stores while the other multiplies. For
// layers of few channels, which memory bounds.
struct Wgmma128x128Paired {
  static constexpr auto config = WgmmaSm90Config({128, 128, 64}, {128, 128, 64}, 2);
};
struct Wgmma192x64Paired {
  static constexpr auto config = WgmmaSm90Config({192, 64, 128}, {192, 64, 128}, 2);
};
struct Wgmma160x64Paired {
  static constexpr auto config = WgmmaSm90Config({160, 64, 128}, {160, 64, 128}, 2);
};
struct Wgmma64x64 {
  static constexpr auto config = kWgmma64x64;
};
struct Wgmma32x64 {
  static constexpr auto config = kWgmma32x64;
};
// A multiprocessor to itself, for small images: a longer ring.
struct Wgmma64x64Deep {
  static constexpr auto config = WgmmaSm90Config({64, 64, 128}, {64, 64, 128});
};
struct Wgmma64x128Split2 {
  static constexpr auto config = WithSplit(kWgmma64x128, 2);
};
struct Wgmma32x64Split2 {
  static constexpr auto config = WithSplit(kWgmma32x64, 2);
};
struct Wgmma64x64Split2 {
  static constexpr auto config = WithSplit(Wgmma64x64Deep::config, 2);
};
struct Wgmma64x64Split4 {
  static constexpr auto config = kWgmma64x64Split4;
};
struct Wgmma32x64Split4 {
  static constexpr auto config = kWgmma32x64Split4;
};
// For at most 32 output channels a group and R of 2 and more.
struct Wgmma160x64Stacked {
  static constexpr auto config = kWgmma160x64Stacked;
};
struct Wgmma64x64Stacked {
  static constexpr auto config = kWgmma64x64Stacked;
};
struct Wgmma256x64Stacked {
  static constexpr auto config = kWgmma256x64Stacked;
};
// Two warpgroups that take tiles in turn: one stores while the other multiplies.
struct Wgmma128x64Turns {
  static constexpr auto config = kWgmma128x64Turns;
};
struct Wgmma160x128Turns {
  static constexpr auto config = kWgmma160x128Turns;
};
struct Wgmma256x64Turns {
  static constexpr auto config = kWgmma256x64Turns;
};
// For NHWC whose channels are a multiple of 8 and not of 16, which threads load: k tiles are of 128 bytes.
struct WgmmaGather64x64 {
  static constexpr auto config = WgmmaSm90Config({64, 64, 128}, {64, 64, 128}, 2);
};
struct WgmmaGather32x64 {
  static constexpr auto config = WgmmaSm90Config({32, 64, 128}, {32, 64, 128}, 2);
};
// The same for a first layer, over NCxHWx<4>.
struct WgmmaFirst512x64 {
  static constexpr auto config = kWgmmaFirst512x64;
};
struct WgmmaFirst448x64 {
  static constexpr auto config = kWgmmaFirst448x64;
};
struct WgmmaFirst112x64 {
  static constexpr auto config = kWgmmaFirst112x64;
};
struct WgmmaFirst64x64 {
  static constexpr auto config = kWgmmaFirst64x64;
};

// And of depthwise operators: output rows of a thread by threads side by side along the channels.
struct Depthwise7x1 {
  static constexpr auto config = kDepthwise4;
};
struct Depthwise7x8 {
  static constexpr auto config = kDepthwise32;
};
// More threads, for few images.
struct Depthwise4x1 {
  static constexpr auto config = DepthwiseConfig(4, 1);
};
struct Depthwise4x8 {
  static constexpr auto config = DepthwiseConfig(4, 8);
};
// For small images.
struct Depthwise2x1 {
  static constexpr auto config = DepthwiseConfig(2, 1);
};
struct Depthwise2x8 {
  static constexpr auto config = DepthwiseConfig(2, 8);
};
// For NHWC of 64 channels and more, and of 128: a warp reads a pixel's side by side.
struct Depthwise7x16 {
  static constexpr auto config = DepthwiseConfig(7, 16);
};
struct Depthwise7x32 {
  static constexpr auto config = DepthwiseConfig(7, 32);
};

// And of DepthwisePointwise: output rows of a thread by warps by output channels of a warp. Large images
// take many rows and few warps, small ones few rows and many warps.
struct Fused7x1x16 {
  static constexpr auto config = DepthwisePointwiseConfig(7, 1, 16);
};
struct Fused7x2x16 {
  static constexpr auto config = DepthwisePointwiseConfig(7, 2, 16);
};
struct Fused7x3x16 {
  static constexpr auto config = kFused7x3x16;
};
struct Fused7x6x16 {
  static constexpr auto config = kFused7x6x16;
};
struct Fused4x6x16 {
  static constexpr auto config = DepthwisePointwiseConfig(4, 6, 16);
};
struct Fused2x6x16 {
  static constexpr auto config = kFused2x6x16;
};
struct Fused2x12x16 {
  static constexpr auto config = kFused2x12x16;
};
struct Fused1x12x16 {
  static constexpr auto config = kFused1x12x16;
};

}  // namespace weft::conv
