// The kernel of conv::DepthwisePointwise: a depthwise convolution and the 1x1 convolution of its
// output, which stays in shared memory (docs/depthwise_pointwise.md).
//
// A block has 4 patches of pixels, whatever their place in an image, and all channels of them. Its
// warps first take 32 channels at a time and write the bytes of the depthwise convolution where
// tensor cores read operand A; after the one barrier they take warp_n output channels at a time,
// over all of k. Since a warp multiplies all of the block's pixels, no two of them need the same
// filter values: those go from global memory straight to registers.
//
// With config.split the block is a cluster of blocks, and "warps" are those of all of them: what one
// convolves it writes to the shared memory of each.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/conv/depthwise/depthwise.hpp"
#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/gemm/epilogue/epilogue_store.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/mainloop/mma_sm80.hpp"
#include "weft/gemm/tile/channel_order.hpp"

namespace weft::conv {

// A patch of a block, all of its channels; false: there are fewer.
struct Patch : DepthwiseTile {
  bool inside = false;
};

// The rows of a block's product: pixel m / 4 of patch m % 4. Patches take turns so that the bytes that
// a warp writes at once fill a row of banks. A thread's rows are all of one patch; for the epilogue m
// counts from its first, and `patch` begins there, so that what is added to it are constants.
struct PatchRows : DepthwiseRows {
  static constexpr int kPatches = 4;

  constexpr gemm::OutputPixel Pixel(const Patch& patch, std::int32_t m) const {
    gemm::OutputPixel pixel = DepthwiseRows::Pixel(patch, m / kPatches);
    pixel.inside = pixel.inside && patch.inside;
    return pixel;
  }
};

// What a DepthwisePointwiseKernel is launched with.
template <class PolicyT>
struct DepthwisePointwiseParams {
  DepthwiseIteratorParams iterator;
  gemm::OutputParams<DepthwiseHalf<PolicyT>, DepthwiseRows> middle;  // without a dst
  const std::uint8_t* filter = nullptr;  // of the 1x1 convolution, CxRSKx<32>
  std::int64_t k_tile_bytes = 0;         // of it: 32 input channels
  std::int32_t k_tiles = 0;
  gemm::OutputParams<PointwiseHalf<PolicyT>, PatchRows> output;
};

inline namespace WEFT_BACKEND {

// Kernel kShape of kDepthwiseShapes. PolicyT: IsDepthwisePointwise.
template <class PolicyT, int kShape>
struct DepthwisePointwiseKernel {
  static_assert(CheckedDepthwisePointwise<PolicyT>::kValid);
  using First = FusedDepthwise<PolicyT>;
  using Depthwise = DepthwiseKernel<First, kShape>;
  using Window = DepthwiseWindow<First, kShape>;
  using Second = FusedPointwise<PolicyT, Window::kRows>;
  using Mainloop = gemm::MmaSm80Mainloop<Second, false>;

  using Params = DepthwisePointwiseParams<PolicyT>;
  using Store = gemm::DirectStore<Second, decltype(Params::output), typename Mainloop::Map>;
  // K tiles of 32 channels, each as a stage of the mainloop's; a launch takes as many as it needs.
  struct SharedStorage {
    alignas(128) std::uint8_t middle[arch::kMaxSharedBytes];
  };
  static constexpr int kKTileBytes = Mainloop::kBytesA;
  static constexpr int kThreads = Mainloop::kThreads, kWarps = kThreads / 32;
  static constexpr int kClusterSplit = PolicyT::config.split;
  static constexpr arch::Requires kRequires = {.min = kClusterSplit > 1 ? 90 : 80};
  static constexpr bool kDependent = kDependentFused<PolicyT>;

  // Found by compiling: what does not spill. Both halves take registers; config.registers is for
  // epilogues that take more.
  static constexpr int Registers(bool before_90) {
    constexpr DepthwiseShape kOf = kDepthwiseShapes[kShape];
    constexpr bool kSmall = Window::kRows * kOf.stride <= 2, kMedium = Window::kRows <= 2;
    constexpr int kSums = Mainloop::kSums;
    constexpr bool kZeroPoint = First::Epilogue::kZeroPoints;
    constexpr bool kFilterZeros = First::Epilogue::kFilterZeroPoint;
    const int window = kOf.r > 3      ? (kFilterZeros ? 208 : 168)
                       : kFilterZeros ? (kSmall               ? 128
                                         : Window::kRows <= 4 ? 168
                                                              : 208)
                       : kSmall       ? (before_90 || kClusterSplit > 1 ? 96 : 80)
                       : kMedium      ? 96
                                      : (before_90 || kZeroPoint ? 168 : 128);
    const int product = kSums > 56 ? 168 : kSums > 16 ? 128 : 80;
    const int both = window > product ? window : product;
    return PolicyT::config.registers > both ? PolicyT::config.registers : both;
  }
  static constexpr int kRegisters = Registers(false);
  // A multiprocessor is four, each with a quarter of the registers; 3 warps divide no quarter.
  static constexpr int Blocks(int registers) {
    const int blocks = 65536 / 4 / 32 / registers * 4 / kWarps;
    return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
  }
  static constexpr int kMinBlocksPerSm = Blocks(kRegisters);
  static constexpr int kMinBlocksPerSmBefore90 = Blocks(Registers(true));

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    if constexpr (kClusterSplit > 1) t.ClusterArriveRelaxed();
    const int number = t.lane() / 8, word = t.lane() % 8;
    const Patch patch = PatchOf(t, p.iterator, number);
    const typename Window::Ahead ahead(p.iterator, patch, patch.inside, word);
    if (WarpOfCluster(t) < p.k_tiles && StartsAtOnce(t.block_x(), kMinBlocksPerSm)) {
      ahead.Ask(t, p.iterator, WarpOfCluster(t));
    }
    if constexpr (kDependent) {
      t.WaitForEarlierGrids();
      t.LetLaterGridsStart();  // behind the wait, as in gemm/kernel/multistage.hpp
    }
    // All blocks of the cluster have started: their shared memory may be written.
    if constexpr (kClusterSplit > 1) t.ClusterWait();
    const std::uint32_t middle = t.SharedAddress(shared.middle);
    Convolve(t, p, patch, ahead, middle);
    Multiply(t, p, middle);
  }

 private:
  static constexpr int kPatches = PatchRows::kPatches;
  using Math = gemm::EpilogueMath<First, decltype(Params::middle), 4>;
  using LayoutA = typename Mainloop::LayoutA;

  // The block's place in its cluster, and a warp's among those of the cluster: neighbours are of different
  // blocks, so that each block has its share of few k tiles and few columns.
  WEFT_DEVICE static int Rank(arch::Thread t) {
    if constexpr (kClusterSplit > 1) {
      return t.cluster_rank();
    } else {
      return 0;
    }
  }
  WEFT_DEVICE static int WarpOfCluster(arch::Thread t) {
    return t.warp() * kClusterSplit + Rank(t);
  }
  static constexpr int kClusterWarps = kWarps * kClusterSplit;

  // Patch i of the block.
  WEFT_DEVICE static Patch PatchOf(arch::Thread t, const DepthwiseIteratorParams& iterator, int i) {
    const std::int32_t index = t.block_x() / kClusterSplit * kPatches + i;
    return {iterator.Tile(index, Window::kRows), index < iterator.tiles};
  }

  // The depthwise convolution. Pixels and channels past the last get bytes too: those meet nobody,
  // these zeros of the filter.
  WEFT_DEVICE static void Convolve(arch::Thread t, const Params& p, const Patch& patch,
                                   const typename Window::Ahead& ahead, std::uint32_t middle) {
    const int number = t.lane() / 8, word = t.lane() % 8;
    // Whether it asks for the k tiles that follow the first. Threads of few rows have most of them on their way at
    // once, those of clusters have few k tiles; these, 5x5 and zero points of filters leave no registers for it;
    // of stride 2 it made things slower.
    constexpr DepthwiseShape kOf = kDepthwiseShapes[kShape];
    constexpr bool kAsks = kClusterSplit == 1 && kOf.r == 3 && kOf.stride == 1 &&
                           Window::kRows > 2 && !First::Epilogue::kFilterZeroPoint;
    WEFT_NO_UNROLL
    for (int k_tile = WarpOfCluster(t); k_tile < p.k_tiles; k_tile += kClusterWarps) {
      if (kAsks && k_tile + kClusterWarps < p.k_tiles)
        ahead.Ask(t, p.iterator, k_tile + kClusterWarps);
      DepthwiseTile tile = patch;
      tile.k = k_tile * 32 + word * 4;
      typename Math::Channels channels;
      Math::Load(t, p.middle, tile.k, p.middle.k, channels);
      typename Window::Accumulators acc;
      WEFT_UNROLL
      for (auto& pixel : acc) {
        WEFT_UNROLL
        for (std::int32_t& sum : pixel) sum = Depthwise::Map::kSmall ? SmallSum::Zero() : 0;
      }
      // The words of a pixel's 32 bytes, 0 2 4 6 1 3 5 7: those that a lane multiplies, 4 bytes of
      // each half, are then 8 side by side of the filter's. Pixels 2 apart are 8 rows apart, whose
      // halves lie alike.
      const std::uint32_t at =
          middle + static_cast<std::uint32_t>(k_tile * kKTileBytes + word / 2 * 4);
      Places to;
      WEFT_UNROLL
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t own =
            at + static_cast<std::uint32_t>(LayoutA::Offset(half * kPatches + number, 0, word % 2));
        WEFT_UNROLL
        for (int rank = 0; rank < kClusterSplit; ++rank) {
          if constexpr (kClusterSplit > 1) {
            to.of[rank][half] = t.MapToRank(own, rank);
          } else {
            to.of[rank][half] = own;
          }
        }
      }
      DepthwiseFilterZeros<First> zeros(t, p.middle, tile.k);
      const auto finish = [&](int row) {
        // Adding a zero point of 0 would be one operation of eleven.
        if (Math::kPacked && p.middle.zero_point == 0.0f) {
          WriteRow<!Math::kPacked>(t, p, tile, patch.inside, channels, acc, row, to);
        } else {
          WriteRow<true>(t, p, tile, patch.inside, channels, acc, row, to);
        }
      };
      Window::Multiply(t, p.iterator, tile, patch.inside && tile.k < p.middle.k, zeros, acc,
                       finish);
    }
  }

  // Where a thread's pixels of either parity go, in each block of the cluster.
  struct Places {
    std::uint32_t of[kClusterSplit][2];
  };

  template <bool kShift>
  WEFT_DEVICE static void WriteRow(arch::Thread t, const Params& p, const DepthwiseTile& tile,
                                   bool inside, const typename Math::Channels& channels,
                                   const typename Window::Accumulators& acc, int row,
                                   const Places& to) {
    constexpr int kColumns = DepthwiseConfig::kColumns;
    static_assert(kColumns == 4 && kPatches == 4);
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const int i = row * kColumns + j;
      typename First::Epilogue::Output outputs[4] = {};
      // A branch only where a stage would see a coordinate outside.
      const gemm::OutputPixel pixel = p.middle.rows.Pixel(tile, i);
      if (!First::Epilogue::kNeedsCoordinate || (inside && pixel.inside)) {
        const epilogues::OutputCoord at{tile.n, 0, tile.p + row, tile.q + j};
        const auto terms =
            Math::TermsAt(t, p.middle, tile.p + row, tile.q + j, inside && pixel.inside);
        typename Math::Range no_range;
        Math::template Convert<kShift>(
            t, p.middle, pixel, at, true, channels, terms,
            [&](int e) { return Depthwise::Map::Get(acc, i, 0, e); }, outputs, no_range);
      }
      std::uint32_t bytes;
      memcpy(&bytes, outputs, sizeof(bytes));
      const auto further = static_cast<std::uint32_t>(i / 2 * (8 * 32));
      WEFT_UNROLL
      for (int rank = 0; rank < kClusterSplit; ++rank) {
        if constexpr (kClusterSplit > 1) {
          t.StoreRemote(to.of[rank][i % 2] + further, bytes);
        } else {
          t.StoreSharedAt(to.of[rank][i % 2] + further, bytes);
        }
      }
    }
  }

  // The filter values of a warp's columns that one lane multiplies, of one k tile.
  struct Columns {
    gemm::Piece<8> of[Mainloop::kFragmentsN];
  };
  // With few sums there are registers to load the first of them before the barrier, and twice as
  // many k tiles at once.
  static constexpr bool kEarly = Mainloop::kSums + 8 * Mainloop::kFragmentsN <= 48;
  static constexpr int kAhead = kEarly ? 4 : 2;

  WEFT_DEVICE static void Load(arch::Thread t, const Params& p, int column, int k_tile,
                               Columns& columns) {
    constexpr auto kChannel = [](int row) { return gemm::RowChannel<Mainloop::kRun>(row); };
    // Whether columns may reach past those of the filter, which has whole 32 of them.
    constexpr bool kPast = Mainloop::kWarpN > 32 || PolicyT::DstLayout::kChannelRun > 32;
    const int lane = t.lane();
    const std::uint8_t* const from =
        p.filter + k_tile * p.k_tile_bytes + (column + kChannel(lane / 4)) * 32 + lane % 4 * 8;
    WEFT_UNROLL
    for (int j = 0; j < Mainloop::kFragmentsN; ++j) {
      const bool inside =
          !kPast || (column + kChannel(lane / 4) + kChannel(8 * j)) * 32 < p.k_tile_bytes;
      columns.of[j] = LoadDepthwise<First>(
          t, reinterpret_cast<const gemm::Piece<8>*>(from + kChannel(8 * j) * 32),
          k_tile < p.k_tiles && inside);
    }
  }

  // The 1x1 convolution.
  WEFT_DEVICE static void Multiply(arch::Thread t, const Params& p, std::uint32_t middle) {
    const int lane = t.lane();
    int column = WarpOfCluster(t) * Mainloop::kWarpN;
    Columns columns[kAhead];
    const auto start = [&] {
      WEFT_UNROLL
      for (int i = 0; i < kAhead; ++i) Load(t, p, column, i, columns[i]);
    };
    if (kEarly && column < p.output.padded_k) start();
    if constexpr (kClusterSplit > 1) {
      t.ClusterSync();
    } else {
      t.SyncThreads();
    }
    Patch patch = PatchOf(t, p.iterator, lane / 4 % kPatches);
    static_assert(kPatches * DepthwiseConfig::kColumns == 16);
    patch.q += lane / 16;  // the first is row lane / 4, of 8 that an instruction has
    const typename Mainloop::ReaderA a(t, middle);
    bool started = kEarly;
    WEFT_NO_UNROLL
    for (; column < p.output.padded_k; column += kClusterWarps * Mainloop::kWarpN) {
      const int first = column - t.warp() * Mainloop::kWarpN;  // the store adds the warp's
      if (kZeroColumns && column >= p.output.k) {
        StoreZeros(t, p.output, patch, first);
        continue;
      }
      if (!started) start();
      started = false;
      typename Mainloop::Accumulators acc = {};
      WEFT_NO_UNROLL
      for (int k_tile = 0; k_tile < p.k_tiles; k_tile += kAhead) {
        WEFT_UNROLL
        for (int i = 0; i < kAhead; ++i) {
          if (k_tile + i >= p.k_tiles) break;
          MultiplyKTile(t, a, k_tile + i, columns[i], acc);
          Load(t, p, column, k_tile + i + kAhead, columns[i]);
        }
      }
      Store::Run(t, p.output, patch, -Mainloop::Map::Pixel(t, 0), first, acc);
    }
  }

  // Whether a warp may have none but channels that fill the destination's last block: those are zeros, for
  // which nothing need be multiplied. A Copy has zeros of its own to write.
  static constexpr bool kZeroColumns =
      PolicyT::DstLayout::kChannelRun > Mainloop::kWarpN&& PolicyT::Epilogue::kWritesOutput &&
      !PolicyT::Epilogue::kHasCopy;

  // What Store::Run does where all sums are of such channels.
  WEFT_DEVICE static void StoreZeros(arch::Thread t, const decltype(Params::output)& p,
                                     const Patch& patch, std::int32_t first) {
    using Map = typename Mainloop::Map;
    using Dst = typename PolicyT::DstLayout;
    constexpr int kBytes = PolicyT::config.alignment.dst;
    constexpr int kRun = kBytes / static_cast<int>(sizeof(typename PolicyT::Epilogue::Output));
    struct alignas(kBytes) Zeros {
      unsigned char byte[kBytes] = {};
    };
    WEFT_UNROLL
    for (int g = 0; g < Map::kGroups; ++g) {
      const std::int32_t k = first + Map::Channel(t, g);
      auto* const to =
          p.dst + patch.n * Dst::ImageStride(p.extents) + Dst::ChannelOffset(p.extents, k);
      WEFT_UNROLL
      for (int i = 0; i < Map::kPixels; ++i) {
        const gemm::OutputPixel pixel = p.rows.Pixel(patch, Map::Pixel(t, i) - Map::Pixel(t, 0));
        WEFT_UNROLL
        for (int j = 0; j < Map::kChannels; j += kRun) {
          auto* const at =
              reinterpret_cast<Zeros*>(to + gemm::PixelOffset<Dst>(p.extents, pixel.pq) + j);
          const bool there = pixel.inside && k + j < p.padded_k;
          if constexpr (kBytes == 4 || kBytes == 8) {
            t.StoreGlobalIf(at, Zeros(), there);
          } else if (there) {
            t.StoreGlobal(at, Zeros());
          }
        }
      }
    }
  }

  WEFT_DEVICE static void MultiplyKTile(arch::Thread t, const typename Mainloop::ReaderA& a,
                                        int k_tile, const Columns& columns,
                                        typename Mainloop::Accumulators& acc) {
    WEFT_UNROLL
    for (int i = 0; i < Mainloop::kFragmentsM; ++i) {
      std::uint32_t rows[4];
      a.Load(t, static_cast<std::uint32_t>(k_tile * kKTileBytes), 0, i, rows);
      WEFT_UNROLL
      for (int j = 0; j < Mainloop::kFragmentsN; ++j) {
        Mainloop::Tiled::Atom::Multiply(t, acc[i * Mainloop::kFragmentsN + j], rows,
                                        columns.of[j].word);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <conv::IsDepthwisePointwise PolicyT>
struct KernelList<PolicyT> {
  static constexpr int kCount = conv::kFirstFusedShape + conv::kFusedShapes;
  template <int i>
  static constexpr bool kExists = i >= conv::kFirstFusedShape;
  template <int i>
  using Kernel = conv::DepthwisePointwiseKernel<PolicyT, i>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
