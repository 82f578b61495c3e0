// The shape of a wgmma_sm90 mainloop (wgmma_sm90.hpp): the spec, in which a kernel says what is
// particular to its operands, what follows from it and a policy's config, with the messages about
// configs that are not allowed, and the map of the accumulators.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"
#include "weft/gemm/hopper/wgmma_plan.hpp"
#include "weft/gemm/ring/tma_producer.hpp"
#include "weft/gemm/staged/staged_chunk.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/config.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What a WgmmaSm90Mainloop is made for, beside a policy. A Spec inherits these defaults and
// declares again what differs; it also states kType, the arch::WgmmaType of the elements (of kS8U8
// the rows are the unsigned ones).
struct WgmmaSpec {
  // Whether rows, and whether columns, are MN-major; of 16-bit elements only.
  static constexpr bool kRowsMnMajor = false, kColumnsMnMajor = false;
  // kPermuted where filters arrive as lines of four channels (CxRSKx<32>, 128 bytes): the 128-byte
  // swizzle also exchanges the channels of a line.
  static constexpr ColumnOrder kOrder = ColumnOrder::kPlain;
  // Who fills the stages (gemm/ring/producer.hpp).
  template <class Shape>
  using Producer = TmaProducer<Shape>;
  // A tile's columns may be channels of several output rows (config.packed_rows): column c then is
  // channel c % (64 / packed_rows) of row c / (64 / packed_rows).
  static constexpr bool kMayPackRows = false;
  // If not void, the stage has the columns in a narrower type, and the products are RS: each warp
  // makes the fragments in registers (register_fragments.hpp).
  using RegisterFragments = void;
  // As in MainloopTraits: 1 to 3 transform warps rewrite what TMA has loaded before it is
  // multiplied (MbarRing::Transform).
  static constexpr bool kTransforms = MainloopTraits::kTransforms;
  static constexpr int kTransformWarps = MainloopTraits::kTransformWarps;
  static constexpr int kTransformRegisters = MainloopTraits::kTransformRegisters;
  // Whether there are launches with k = 0, whose single k tile is zeros that nobody copies.
  static constexpr bool kMayHaveNoK = false;
};

// PolicyT has config and Epilogue. Spec inherits WgmmaSpec.
template <class PolicyT, class Spec>
struct WgmmaShape : MainloopTraits {
  using Producer = typename Spec::template Producer<WgmmaShape>;
  static constexpr arch::WgmmaType kType = Spec::kType;
  static constexpr bool kS8 = arch::IsBytes(kType);
  static constexpr bool kRegisterFragments = !std::is_void_v<typename Spec::RegisterFragments>;
  static_assert(!kRegisterFragments || !(Producer::kFirstLayer || Spec::kColumnsMnMajor));
  static_assert(!arch::IsWgmmaKMajorOnly(kType) || !(Spec::kRowsMnMajor || Spec::kColumnsMnMajor),
                "weft: wgmma_sm90 reads operands across k of 16-bit floats only");
  static constexpr bool kRowsMnMajor = Spec::kRowsMnMajor, kColumnsMnMajor = Spec::kColumnsMnMajor;
  static constexpr int kElementBytes = arch::WgmmaElementBytes(kType);
  static constexpr auto kConfig = PolicyT::config;
  static constexpr TileShape kTile = kConfig.threadblock, kWarp = kConfig.warp;
  static_assert(arch::IsWgmmaN(kWarp.m) && kWarp.n % 64 == 0 && kWarp.n > 0,
                "weft: config.warp of wgmma_sm90 is a warpgroup's share: m is 8 to 32 by 8 or a "
                "multiple of 16 up to 256, n a multiple of 64");
  static_assert(kTile.m % kWarp.m == 0 && kTile.n % kWarp.n == 0 &&
                    kTile.m <= (Producer::kFirstLayer ? 1024 : 256) && kTile.n <= 256,
                "weft: config.threadblock of wgmma_sm90 is a multiple of config.warp, at most "
                "256 x 256");
  static_assert(kTile.k * kElementBytes % 32 == 0 && kTile.k > 0 &&
                    kTile.k * kElementBytes <= 32 * WgmmaPlan::kMostSteps,
                "weft: config.threadblock.k of wgmma_sm90 is a multiple of 32 bytes, at most 2048");
  static_assert(
      kWarp.k == kTile.k,
      "weft: config.warp.k of wgmma_sm90 is config.threadblock.k: warpgroups share a k tile");
  static_assert(kConfig.blocks_per_sm == 1 || kConfig.blocks_per_sm == 2,
                "weft: config.blocks_per_sm of wgmma_sm90 is 1 or 2");

  static constexpr bool kMayHaveNoK = Spec::kMayHaveNoK;
  static constexpr bool kTransforms = Spec::kTransforms;
  static constexpr int kTransformWarps = Spec::kTransformWarps,
                       kTransformRegisters = Spec::kTransformRegisters;
  static constexpr int kClusterSplit =
      kConfig.cluster_split_k;  // blocks of a cluster that share a tile's k tiles
  static_assert(
      (kClusterSplit == 1 || kClusterSplit == 2 || kClusterSplit == 4 || kClusterSplit == 8) &&
          kWarp.m % (8 * kClusterSplit) == 0,
      "weft: config.cluster_split_k of wgmma_sm90 is 1, 2, 4 or 8, and config.warp.m a multiple of "
      "8 times as many, of which each block of a cluster stores its part");
  static_assert(
      kClusterSplit == 1 || !Producer::kFirstLayer,
      "weft: config.cluster_split_k of wgmma_sm90 over NCxHWx<4> is 1: a tile has one k tile");
  static constexpr int kPackedRows =
      kConfig.packed_rows;  // rows of the output in a row of the product
  static_assert(
      kPackedRows == 1 || Spec::kMayPackRows,
      "weft: config.packed_rows of wgmma_sm90 is 1, but in convolutions over NCxHWx<32> and NHWC "
      "by filters of int8");
  static_assert(
      kPackedRows == 1 || (kPackedRows == 2 && kTile.n == 64),
      "weft: config.packed_rows of wgmma_sm90 is 1 or 2, and with 2 config.threadblock.n is 64, "
      "which are 32 channels of two output rows");
  static constexpr int kN = kWarp.m, kBlocks = kWarp.n / 64;
  static constexpr int kOwnN =
      kN / kClusterSplit;  // rows of a warpgroup that are a block's to store
  static constexpr int kConsumerGroups =
      kConfig.ping_pong ? 2 : 1;  // groups of consumer warpgroups: 2 are ping-pong
  static_assert((kConsumerGroups == 1 || kConsumerGroups == 2) &&
                    (kConsumerGroups == 1 || kClusterSplit == 1),
                "weft: config.ping_pong of wgmma_sm90 is false, or config.cluster_split_k is 1");
  static_assert(
      kConsumerGroups == 1 || !Producer::kFirstLayer,
      "weft: config.ping_pong of wgmma_sm90 over NCxHWx<4> is false: warpgroups go through a tile "
      "one after the other already");
  static constexpr int kGroupsN = kTile.n / kWarp.n;
  static constexpr int kTileGroups = kTile.m / kWarp.m * kGroupsN;  // that share a tile
  static constexpr int kGroups = kConsumerGroups * kTileGroups;
  static_assert(kGroups <= 4, "weft: a block of wgmma_sm90 has at most 4 warpgroups that multiply");
  static constexpr ColumnOrder kOrder = Spec::kOrder;
  static_assert(!Spec::kRowsMnMajor || kTile.m == kWarp.m || kWarp.m % 64 == 0,
                "weft: where A is MN-major, config.warp.m of wgmma_sm90 is a "
                "multiple of 64, or all of config.threadblock.m");
  static constexpr int kThreads = 128 * kGroups;  // consumer threads
  static constexpr int kBlockM = kTile.m, kBlockN = kTile.n;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  using Sum = std::conditional_t<kS8, std::int32_t, float>;
  using Accumulators = Sum[kBlocks][kN / 2];
  using OwnSums = Sum[kBlocks][kOwnN / 2];

  // Whether 16-bit outputs go through shared memory (gemm/staged/staged_halves.hpp).
  static constexpr bool kHalves = kStagesHalves<PolicyT, kOrder>;
};

// Which outputs a thread holds of a tile, as an AccumulatorMap (gemm/tile/accumulators.hpp). Shape:
// a WgmmaShape.
template <class Shape>
struct WgmmaMap {
  using Sum = typename Shape::Sum;
  using Accumulators = typename Shape::OwnSums;
  static constexpr int kPixels = Shape::kOwnN / 4, kGroups = 2 * Shape::kBlocks, kChannels = 1;
  static constexpr int kSharingLanes = 3;  // the bits of a lane's number that Channel ignores
  WEFT_DEVICE static int Group(arch::Thread t) { return t.warp() / 4; }
  WEFT_DEVICE static int GroupOfTile(arch::Thread t) { return Group(t) % Shape::kTileGroups; }
  // Pixels are numbered as the output's rows are: kPackedRows of them to a row of the product.
  WEFT_DEVICE static int FirstPixel(arch::Thread t) {
    const int first = GroupOfTile(t) / Shape::kGroupsN * Shape::kN;
    if constexpr (Shape::kClusterSplit == 1) {
      return Shape::kPackedRows * first;
    } else {
      return Shape::kPackedRows * (first + t.cluster_rank() * Shape::kOwnN);
    }
  }
  // Row: which of a warpgroup's rows has pixel i. PackedRow: which of that row's kPackedRows
  // pixels this thread holds.
  WEFT_DEVICE static int Row(arch::Thread t, int i) { return i / 2 * 8 + t.lane() % 4 * 2 + i % 2; }
  WEFT_DEVICE static int PackedRow(arch::Thread t) {
    if constexpr (Shape::kPackedRows == 1) {
      return 0;
    } else {
      return t.warp() % 4 * Shape::kPackedRows / 4;
    }
  }
  WEFT_DEVICE static int FirstChannel(arch::Thread t) {
    return Group(t) % Shape::kGroupsN * Shape::kWarp.n;
  }
  WEFT_DEVICE static int Pixel(arch::Thread t, int i) {
    return FirstPixel(t) + Shape::kPackedRows * Row(t, i) + PackedRow(t);
  }
  WEFT_DEVICE static int Channel(arch::Thread t, int g) {
    const int warp = t.warp() % (4 / Shape::kPackedRows);  // of those that hold the same pixels
    const int first = FirstChannel(t) + g / 2 * 64 + warp * 16, eight = g % 2, i = t.lane() / 4;
    if constexpr (Shape::kOrder == ColumnOrder::kPaired) {
      return first + 2 * i + eight;
    } else if constexpr (Shape::kOrder == ColumnOrder::kPermuted) {
      return first + 8 * eight + (i ^ (2 * warp + eight) % 4);
    } else {
      return first + 8 * eight + i;
    }
  }
  WEFT_DEVICE static Sum Get(const Accumulators& acc, int i, int g, int) {
    return acc[g / 2][i / 2 * 4 + g % 2 * 2 + i % 2];
  }
};

}  // namespace WEFT_BACKEND

}  // namespace weft::gemm
