// The kernel of depthwise convolutions.
//
// Each output channel sees one input channel, so threads share nothing of the source or the filter
// except the overlap of their receptive fields: what a thread loads it uses itself. There is no
// stage of shared memory, no k tile and no pipeline (docs/decisions/0007). A thread reads the input
// rows of its outputs one after the other, two rows ahead, and finds in the L1 what its neighbours
// read too.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/depthwise/depthwise_store.hpp"
#include "weft/conv/depthwise/depthwise_window.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/kernel/launch_bounds.hpp"

namespace weft::conv {

// PolicyT as the parts of the kernel see it. The launch is not dependent where there is a residual,
// whose loads would spill, as in other kernels whose threads both multiply and store
// (gemm/operand/operand.hpp).
template <class PolicyT>
struct DependentDepthwise : PolicyT {
  static constexpr bool kDependentLaunch = !PolicyT::Epilogue::kHasResidual;
};

inline namespace WEFT_BACKEND {

// Kernel kShape of kDepthwiseShapes. PolicyT: a conv::Policy with a DepthwiseConfig.
template <class PolicyT, int kShape>
struct DepthwiseKernel {
  static constexpr auto config = PolicyT::config;
  static_assert(config.rows >= 1 && config.rows <= 8,
                "weft: config.rows of a DepthwiseConfig is 1 to 8 output rows of a thread");
  static_assert(config.lanes >= 1 && config.lanes <= 32 && (config.lanes & (config.lanes - 1)) == 0,
                "weft: config.lanes of a DepthwiseConfig is 1, 2, 4, 8, 16 or 32 threads side by "
                "side along the channels");
  static_assert(config.threads >= 32 && config.threads <= 1024 && config.threads % 32 == 0,
                "weft: config.threads of a DepthwiseConfig is a multiple of 32, at most 1024");
  static_assert(gemm::internal::StoreWidth(config.alignment.dst) &&
                    config.alignment.dst <=
                        4 * static_cast<int>(sizeof(typename PolicyT::Epilogue::Output)),
                "weft: config.alignment.dst of a DepthwiseConfig is wider than the 4 output "
                "channels that one thread holds");

  using Params = DepthwiseParams<typename PolicyT::Epilogue>;
  struct SharedStorage {};
  using Own = DependentDepthwise<PolicyT>;
  using Window = DepthwiseWindow<Own, kShape>;
  static constexpr int kThreads = config.threads;
  static constexpr arch::Requires kRequires = {.min = 75};
  static constexpr bool kDependent = Own::kDependentLaunch;

  // The limits were found by compiling: the fewest registers that do not spill. Before sm_90 ptxas
  // takes more.
  static constexpr int Registers(bool before_90) {
    constexpr DepthwiseShape kOf = kDepthwiseShapes[kShape];
    if (config.registers > 0) return config.registers;
    if (kOf.r > 3) return 232;
    // 20 more registers, for running sums
    constexpr bool kFilterZeros = PolicyT::Epilogue::kFilterZeroPoint;
    if (kOf.stride == 2) return before_90 ? 208 : 168;
    return before_90 || kFilterZeros ? 168 : 128;
  }
  static constexpr int kRegisters = Registers(false);
  static constexpr int kMinBlocksPerSm = gemm::BlocksPerSm(kRegisters, kThreads);
  static constexpr int kMinBlocksPerSmBefore90 = gemm::BlocksPerSm(Registers(true), kThreads);

  // Whether threads prefetch their input rows to the L2 before they wait for earlier kernels: 8
  // neighbouring threads have 32 channels. The kernel of any shape has no Ahead. At stride 2, and
  // for 7x7, only the blocks that start at once prefetch; the others load right after they ask, and
  // took longer with it (docs/log/operators.md).
  static constexpr bool kAsks = config.lanes == 8 && kShape > 0;
  static constexpr bool kAllAsk =
      kDepthwiseShapes[kShape].stride == 1 && kDepthwiseShapes[kShape].r <= 5;

  // Maps a thread's accumulators to outputs (gemm/tile/accumulators.hpp), counted from its own
  // tile.
  struct Map {
    using Accumulators = typename Window::Accumulators;
    using Epilogue = typename PolicyT::Epilogue;
    static constexpr bool kExact =
        Epilogue::kBiasInSum || Epilogue::kZeroPoints || Epilogue::OutputStage::kOnlySums;
    static constexpr bool kSmall = Window::kSmall && !kExact;
    using Sum = std::conditional_t<kSmall, SmallSum, std::int32_t>;
    static constexpr int kPixels = Window::kRows * DepthwiseConfig::kColumns;
    static constexpr int kGroups = 1, kChannels = 4;

    WEFT_DEVICE static int Pixel(arch::Thread, int i) { return i; }
    WEFT_DEVICE static int Channel(arch::Thread, int) { return 0; }
    WEFT_DEVICE static Sum Get(const Accumulators& acc, int i, int, int j) {
      return Sum{acc[i][j]};
    }
    WEFT_DEVICE static void Clear(Accumulators& acc) {
      WEFT_UNROLL
      for (auto& pixel : acc) {
        WEFT_UNROLL
        for (std::int32_t& sum : pixel) sum = kSmall ? SmallSum::Zero() : 0;
      }
    }
  };
  using Store = DepthwiseStore<Own, decltype(Params::output), Map>;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    constexpr int kTiles = kThreads / config.lanes;  // of a block, with the same channels
    const int lane = t.tid() % config.lanes;
    std::int32_t channels = 0;
    const std::int32_t block = p.iterator.channel_tiles.Divmod(t.block_x(), channels);
    const std::int32_t index = block * kTiles + t.tid() / config.lanes;
    DepthwiseTile tile = p.iterator.Tile(index, Window::kRows);
    tile.k = (channels * config.lanes + lane) * 4;
    const bool wanted = index < p.iterator.tiles && tile.k < p.output.padded_k;
    if constexpr (kAsks) {
      DepthwiseTile first = tile;
      first.k = 0;
      const bool exist = wanted && channels * 32 < p.output.k &&
                         (kAllAsk || StartsAtOnce(t.block_x(), kMinBlocksPerSm));
      typename Window::Ahead(p.iterator, first, exist, lane).Ask(t, p.iterator, channels);
    }
    if constexpr (kDependent) {
      t.WaitForEarlierGrids();
      t.LetLaterGridsStart();  // behind the wait, as in gemm/kernel/multistage.hpp
    }
    if (!wanted) return;
    typename Window::Accumulators acc;
    Map::Clear(acc);
    Store store(t, p.output, tile);
    DepthwiseFilterZeros<Own> zeros(t, p.output, tile.k);
    Window::Multiply(t, p.iterator, tile, tile.k < p.output.k, zeros, acc,
                     [&](int row) { store.Row(t, row, acc); });
    store.Finish(t);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
