// The kernel of simt, simt_async, mma_sm75 and mma_sm80: every thread of a block loads operands,
// multiplies them and stores results, and a block has one tile.
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/kernel/launch_bounds.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/tile/accumulators.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The shared memory of a block. A mainloop's scratch replaces the stages, which are no longer read
// when it is used.
template <class Mainloop, bool kHasScratch>
struct MultistageStorage {
  typename Mainloop::Pipeline::Stages stages;
};
template <class Mainloop>
struct MultistageStorage<Mainloop, true> {
  union {
    typename Mainloop::Pipeline::Stages stages;
    typename Mainloop::Scratch scratch;
  };
};

// Parts names what the kernel is made of, and inherits PartsTraits:
//
//     struct Params {  // the same for both back ends
//       Scheduler::Params schedule;
//       OperandA::Params a;
//       OperandB::Params b;
//       OutputParams<...> output;
//       std::int32_t k_tiles;  // how many there are
//     };
//     using Scheduler, OperandA, OperandB, Mainloop, Pipeline, Epilogue;
//     static constexpr int kRegisters;  // of a thread; a kernel that spills is a failed build
//
// Where the scheduler's tiles are those of a list (ListGrid), Params has a schedule only, and each
// product of the list has the other members for itself.
template <class Parts>
struct MultistageKernel : LaunchBounds<Parts, Parts::Mainloop::kThreads> {
  using Scheduler = typename Parts::Scheduler;
  using OperandA = typename Parts::OperandA;
  using OperandB = typename Parts::OperandB;
  using Mainloop = typename Parts::Mainloop;
  using Pipeline = typename Parts::Pipeline;
  using Epilogue = typename Parts::Epilogue;
  static_assert(Operand<OperandA> && Operand<OperandB>,
                "weft: an operand has Load and Store, or CopyPiece (gemm/operand/operand.hpp)");
  static_assert(gemm::Pipeline<Pipeline, OperandA, OperandB>,
                "weft: a pipeline has Stages and Run, and its operands are of the kind it takes "
                "(gemm/mainloop/pipeline.hpp)");
  static_assert(
      AccumulatorMap<typename Mainloop::Map>,
      "weft: a mainloop's Map says which outputs a thread holds (gemm/tile/accumulators.hpp)");

  using Params = typename Parts::Params;
  using SharedStorage = MultistageStorage<Mainloop, Mainloop::kHasScratch>;
  // Whether it may start while earlier kernels of its stream still run (arch::LaunchAttributes).
  static constexpr bool kDependent = Epilogue::kDependent;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    if constexpr (kDependent) {
      t.WaitForEarlierGrids();
      t.LetLaterGridsStart();  // only now, so that for them, too, earlier kernels have ended
    }
    const auto tile = Scheduler::At(p.schedule, t.block_x());
    if (!tile.exists) return;
    const auto& product = tile.ProductOf(p);
    using Tile = std::remove_cvref_t<decltype(tile)>;

    typename Mainloop::Accumulators acc = {};
    {
      typename Tile::template Part<typename OperandA::Params> of_a = product.a;
      typename Tile::template Part<typename OperandB::Params> of_b = product.b;
      OperandA a(t, of_a, tile);
      OperandB b(t, of_b, tile);
      Pipeline::Run(t, shared.stages, a, b, product.k_tiles, acc);
    }
    if constexpr (Mainloop::kHasScratch) {
      if (!Mainloop::Finish(t, shared.scratch, acc)) return;
    }
    if constexpr (Mainloop::kCompletes) Mainloop::Complete(acc);

    typename Tile::template Part<std::remove_cvref_t<decltype(product.output)>> output =
        product.output;
    const std::int32_t m = AddRows(tile.m * Mainloop::kBlockM, output.rows.FirstRow(tile));
    Epilogue::Run(t, output, tile, m, tile.n * Mainloop::kBlockN, acc);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
