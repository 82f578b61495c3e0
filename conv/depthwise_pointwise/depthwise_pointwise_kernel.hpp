// The kernel of conv::DepthwisePointwise: a depthwise convolution and the 1x1 convolution of its
// output, which stays in shared memory (docs/depthwise_pointwise.md).
//
// A block has 4 patches of pixels, wherever these are in an image, and all of their channels. Its
// warps first take 32 channels at a time and write the bytes of the depthwise convolution to where
// tensor cores read operand A. After the one barrier each takes warp_n output channels at a time,
// over all of k. Since a warp multiplies all of the block's pixels, no two warps need the same
// filter values, which therefore go from global memory straight to registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/conv/depthwise/depthwise.hpp"
#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_store.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/mainloop/mma_sm80.hpp"
#include "weft/gemm/tile/channel_order.hpp"

namespace weft::conv {

// One of a block's patches, with all of its channels; not inside where the problem has fewer.
struct Patch : DepthwiseTile {
  bool inside = false;
};

// The rows of a block's product: row m is pixel m / 4 of patch m % 4. Patches alternate so that the
// bytes that a warp writes at once fill a row of banks. A thread's rows are all of one patch. For
// the epilogue m counts from the thread's first row and `patch` begins there, so that what is added
// to it is a constant.
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
  gemm::OutputParams<typename DepthwiseHalf<PolicyT>::Epilogue, DepthwiseRows>
      middle;                            // without a dst
  const std::uint8_t* filter = nullptr;  // of the 1x1 convolution, in CxRSKx<32>
  std::int64_t k_tile_bytes = 0;         // bytes of the filter for one k tile, 32 input channels
  std::int32_t k_tiles = 0;
  gemm::OutputParams<typename PointwiseHalf<PolicyT>::Epilogue, PatchRows> output;
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
  using Mainloop = gemm::MmaSm80Mainloop<Second>;

  using Params = DepthwisePointwiseParams<PolicyT>;
  using Store = gemm::DirectStore<Second, decltype(Params::output), typename Mainloop::Map>;
  // Operand A: k tiles of 32 channels, each laid out as a stage of the mainloop. A launch allocates
  // as many as it needs.
  struct SharedStorage {
    alignas(128) std::uint8_t middle[arch::kMaxSharedBytes];
  };
  static constexpr int kKTileBytes = Mainloop::kBytesA;
  static constexpr int kThreads = Mainloop::kThreads, kWarps = kThreads / 32;
  static constexpr arch::Requires kRequires = {.min = 80};
  static constexpr bool kDependent = kDependentFused<PolicyT>;

  // The limits were found by compiling: the fewest registers that do not spill. Both halves take
  // registers; config.registers is for epilogues that take more.
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
                       : kSmall       ? (before_90 ? 96 : 80)
                       : kMedium      ? 96
                                      : (before_90 || kZeroPoint ? 168 : 128);
    const int product = kSums > 56 ? 168 : kSums > 16 ? 128 : 80;
    const int both = window > product ? window : product;
    return PolicyT::config.registers > both ? PolicyT::config.registers : both;
  }
  static constexpr int kRegisters = Registers(false);
  // A multiprocessor has four partitions with a quarter of the registers each; a block of 3 warps
  // does not fill them evenly.
  static constexpr int Blocks(int registers) {
    const int blocks = 65536 / 4 / 32 / registers * 4 / kWarps;
    return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
  }
  static constexpr int kMinBlocksPerSm = Blocks(kRegisters);
  static constexpr int kMinBlocksPerSmBefore90 = Blocks(Registers(true));

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const int number = t.lane() / 8, word = t.lane() % 8;
    const Patch patch = PatchOf(t, p.iterator, number);
    const typename Window::Ahead ahead(p.iterator, patch, patch.inside, word);
    if (t.warp() < p.k_tiles && StartsAtOnce(t.block_x(), kMinBlocksPerSm)) {
      ahead.Ask(t, p.iterator, t.warp());
    }
    if constexpr (kDependent) {
      t.WaitForEarlierGrids();
      t.LetLaterGridsStart();  // behind the wait, as in gemm/kernel/multistage.hpp
    }
    const std::uint32_t middle = t.SharedAddress(shared.middle);
    Convolve(t, p, patch, ahead, middle);
    Multiply(t, p, middle);
  }

 private:
  static constexpr int kPatches = PatchRows::kPatches;
  using Math = gemm::EpilogueMath<First, decltype(Params::middle), 4>;
  using LayoutA = typename Mainloop::LayoutA;

  // Patch i of the block, 0 to 3.
  WEFT_DEVICE static Patch PatchOf(arch::Thread t, const DepthwiseIteratorParams& iterator, int i) {
    const std::int32_t index = t.block_x() * kPatches + i;
    return {iterator.Tile(index, Window::kRows), index < iterator.tiles};
  }

  // The depthwise convolution, into operand A. Pixels and channels past the last get bytes too:
  // nobody stores the products of these pixels, and the channels meet zeros of the filter.
  WEFT_DEVICE static void Convolve(arch::Thread t, const Params& p, const Patch& patch,
                                   const typename Window::Ahead& ahead, std::uint32_t middle) {
    const int number = t.lane() / 8, word = t.lane() % 8;
    // Whether a thread prefetches the k tiles that follow its first. Threads of few rows have most
    // loads in flight at once anyway; with 5x5 filters or zero points of filters no registers are
    // left for it, and at stride 2 it was slower.
    constexpr DepthwiseShape kOf = kDepthwiseShapes[kShape];
    constexpr bool kAsks =
        kOf.r == 3 && kOf.stride == 1 && Window::kRows > 2 && !First::Epilogue::kFilterZeroPoint;
    WEFT_NO_UNROLL
    for (int k_tile = t.warp(); k_tile < p.k_tiles; k_tile += kWarps) {
      if (kAsks && k_tile + kWarps < p.k_tiles) ahead.Ask(t, p.iterator, k_tile + kWarps);
      DepthwiseTile tile = patch;
      tile.k = k_tile * 32 + word * 4;
      typename Math::Channels channels;
      Math::Load(t, p.middle, tile.k, p.middle.k, channels);
      typename Window::Accumulators acc;
      Depthwise::Map::Clear(acc);
      // A pixel's 32 bytes are written as words 0 2 4 6 1 3 5 7. What a lane multiplies, 4 bytes of
      // each half, are then 8 adjacent bytes of the filter. Pixels that are 2 apart are 8 rows
      // apart, where the two halves lie in the same way.
      const std::uint32_t at =
          middle + static_cast<std::uint32_t>(k_tile * kKTileBytes + word / 2 * 4);
      std::uint32_t to[2];  // where the thread writes its even and its odd pixels
      WEFT_UNROLL
      for (int half = 0; half < 2; ++half) {
        to[half] =
            at + static_cast<std::uint32_t>(LayoutA::Offset(half * kPatches + number, 0, word % 2));
      }
      DepthwiseFilterZeros<First> zeros(t, p.middle, tile.k);
      const auto finish = [&](int row) {
        // A zero point of 0 is left out: adding it would be one operation of eleven.
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

  template <bool kShift>
  WEFT_DEVICE static void WriteRow(arch::Thread t, const Params& p, const DepthwiseTile& tile,
                                   bool inside, const typename Math::Channels& channels,
                                   const typename Window::Accumulators& acc, int row,
                                   const std::uint32_t (&to)[2]) {
    constexpr int kColumns = DepthwiseConfig::kColumns;
    static_assert(kColumns == 4 && kPatches == 4);
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const int i = row * kColumns + j;
      typename First::Epilogue::Output outputs[4] = {};
      // A branch is needed only where a stage would see the coordinate of a pixel outside the
      // image.
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
      t.StoreSharedAt(to[i % 2] + further, bytes);
    }
  }

  // The filter values that one lane multiplies in one k tile: those of its warp's columns.
  struct Columns {
    gemm::Piece<8> of[Mainloop::kFragmentsN];
  };
  // With few accumulators there are registers to load the first columns before the barrier, and for
  // twice as many k tiles at once.
  static constexpr bool kEarly = Mainloop::kSums + 8 * Mainloop::kFragmentsN <= 48;
  static constexpr int kAhead = kEarly ? 4 : 2;

  WEFT_DEVICE static void Load(arch::Thread t, const Params& p, int column, int k_tile,
                               Columns& columns) {
    constexpr auto kChannel = [](int row) { return gemm::RowChannel<Mainloop::kRun>(row); };
    // Whether a warp's columns may reach past those of the filter, which are padded to whole blocks
    // of 32.
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

  // The 1x1 convolution of the block's pixels; each warp has output channels of its own.
  WEFT_DEVICE static void Multiply(arch::Thread t, const Params& p, std::uint32_t middle) {
    const int lane = t.lane();
    int column = t.warp() * Mainloop::kWarpN;
    Columns columns[kAhead];
    const auto start = [&] {
      WEFT_UNROLL
      for (int i = 0; i < kAhead; ++i) Load(t, p, column, i, columns[i]);
    };
    if (kEarly && column < p.output.padded_k) start();
    t.SyncThreads();
    Patch patch = PatchOf(t, p.iterator, lane / 4 % kPatches);
    static_assert(kPatches * DepthwiseConfig::kColumns == 16);
    patch.q += lane / 16;  // the thread's first row is lane / 4, of 8 to an instruction
    const typename Mainloop::ReaderA a(t, middle);
    bool started = kEarly;
    WEFT_NO_UNROLL
    for (; column < p.output.padded_k; column += kWarps * Mainloop::kWarpN) {
      const int first = column - t.warp() * Mainloop::kWarpN;  // the store adds the warp's columns
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

  // Whether a warp may have only channels that fill the destination's last block: these are written
  // as zeros, and nothing need be multiplied. A Copy stage would have zeros of its own to write.
  static constexpr bool kZeroColumns =
      PolicyT::DstLayout::kChannelRun > Mainloop::kWarpN&& PolicyT::Epilogue::kWritesOutput &&
      !PolicyT::Epilogue::kHasCopy;

  // Writes the zeros that Store::Run would write if all of a warp's columns were such channels.
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
