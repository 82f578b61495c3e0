// The one kernel of the library: matrix products and convolutions, through every mainloop.
//
//     scheduler -> operands -> pipeline and mainloop -> epilogue
//
// Parts names them:
//
//     struct Parts {
//       struct Params {  // the same for both back ends
//         Scheduler::Params schedule;
//         OperandA::Params a;
//         OperandB::Params b;
//         OutputParams<...> output;
//         std::int32_t slices;
//       };
//       using Scheduler, OperandA, OperandB, Mainloop, Pipeline, Epilogue;
//       static constexpr int kRegisters;  // of a thread; with fewer it would spill: a failed build
//       static constexpr int kRegistersBefore90;  // optional: the same for sm_75 to sm_89
//     };
//
// All threads of a block bring operands, multiply and store, here; a pipeline whose operands are
// brought by threads of their own says so by its kThreads and its Run.
#pragma once

#include <type_traits>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/kernel.hpp"
#include "weft/gemm/fast_divmod.hpp"
#include "weft/gemm/pipeline.hpp"

namespace weft::gemm {

// The tile of the output that a block works on: tile m along the rows, n along the columns.
struct Tile {
  int m = 0, n = 0;
};

// The tiles of one product, one to a block. Blocks enumerate (m, n), n fastest.
struct TileGrid {
  struct Params {
    FastDivmod tiles_n;
  };
  static constexpr Tile At(const Params& p, int block) {
    Tile tile;
    tile.m = p.tiles_n.Divmod(block, tile.n);
    return tile;
  }
};

// Blocks of `threads` threads of `registers` registers that fit on a multiprocessor, which has room
// for 16 of them on every GPU.
constexpr int BlocksPerSm(int registers, int threads) {
  const int blocks = 65536 / (registers * threads);
  return blocks < 1 ? 1 : blocks > 16 ? 16 : blocks;
}

inline namespace WEFT_BACKEND {

template <class Parts>
struct TileKernel {
  using Mainloop = typename Parts::Mainloop;
  using Pipeline = typename Parts::Pipeline;
  static_assert(Operand<typename Parts::OperandA> && Operand<typename Parts::OperandB>,
                "weft: an operand has Load and Store, or CopyPiece (gemm/operand.hpp)");
  static_assert(gemm::Pipeline<Pipeline, typename Parts::OperandA, typename Parts::OperandB>,
                "weft: a pipeline has Stages and Run, and its operands are of the kind it takes "
                "(gemm/pipeline.hpp)");
  static_assert(AccumulatorMap<typename Mainloop::Map>,
                "weft: a mainloop's Map says which outputs a thread holds (gemm/accumulators.hpp)");

  using Params = typename Parts::Params;
  static constexpr int kThreads = Mainloop::kThreads;
  static constexpr arch::Requires kRequires = Mainloop::kRequires;
  static constexpr int kMinBlocksPerSm = BlocksPerSm(Parts::kRegisters, kThreads);
  static constexpr int kMinBlocksPerSmBefore90 = [] {
    if constexpr (requires { Parts::kRegistersBefore90; }) {
      return BlocksPerSm(Parts::kRegistersBefore90, kThreads);
    } else {
      return kMinBlocksPerSm;
    }
  }();

  // What a mainloop keeps between threads after its last slice takes the place of the stages.
  static constexpr bool kHasScratch = requires { typename Mainloop::Scratch; };
  template <bool kScratch, class M>
  struct Storage {
    typename Pipeline::Stages stages;
  };
  template <class M>
  struct Storage<true, M> {
    union {
      typename Pipeline::Stages stages;
      typename M::Scratch scratch;
    };
  };
  using SharedStorage = Storage<kHasScratch, Mainloop>;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const auto tile = Parts::Scheduler::At(p.schedule, t.block_x());
    typename Mainloop::Accumulators acc = {};
    {
      typename Parts::OperandA a(t, p.a, tile);
      typename Parts::OperandB b(t, p.b, tile);
      Pipeline::Run(t, shared.stages, a, b, p.slices, acc);
    }
    if constexpr (kHasScratch) {
      if (!Mainloop::Finish(t, shared.scratch, acc)) return;
    }
    Parts::Epilogue::Run(t, p.output, tile, tile.m * Mainloop::kBlockM, tile.n * Mainloop::kBlockN,
                         acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
