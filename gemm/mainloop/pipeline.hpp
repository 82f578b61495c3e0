// Pipelines of the kernels without producer warps: how the k tiles of both operands get into stages
// of shared memory while the mainloop multiplies those that are there.
//
// A mainloop knows one stage of each operand, kBytesA and kBytesB bytes, and says how it is
// multiplied; how many stages there are, and their order, is the pipeline's.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

template <class PolicyT, class OperandA, class OperandB>
concept Pipeline = requires(arch::Thread t, typename PolicyT::Stages& stages, OperandA& a,
                            OperandB& b, typename PolicyT::Mainloop::Accumulators& acc) {
  PolicyT::Run(t, stages, a, b, 1, acc);
};

inline namespace WEFT_BACKEND {

template <class Mainloop, int kStages>
struct OperandStages {
  static_assert(std::int64_t{kStages} * (Mainloop::kBytesA + Mainloop::kBytesB) <=
                    arch::kMaxSharedBytes,
                "weft: config.threadblock and config.stages need more than 227 KB of shared "
                "memory, the most any GPU gives one block");
  alignas(Mainloop::kStageAlignment) std::uint8_t a[kStages][Mainloop::kBytesA];
  alignas(Mainloop::kStageAlignment) std::uint8_t b[kStages][Mainloop::kBytesB];
};

// Two stages: while the mainloop multiplies one of them, the next k tile is loaded from global
// memory into registers, then stored to the other. There is one barrier for each k tile.
template <class Mma>
struct DoubleBuffer : PipelineTraits {
  using Mainloop = Mma;
  using Stages = OperandStages<Mma, 2>;

  // acc += A B over `k_tiles` >= 1 k tiles. There is no barrier at the end.
  template <LoadStoreOperand OperandA, LoadStoreOperand OperandB>
  WEFT_DEVICE static void Run(arch::Thread t, Stages& shared, OperandA& a, OperandB& b, int k_tiles,
                              typename Mma::Accumulators& acc) {
    typename OperandA::Fragment fragment_a{};  // g++ does not see that Load writes all of it
    typename OperandB::Fragment fragment_b{};
    a.Load(t, fragment_a);
    b.Load(t, fragment_b);
    a.Store(t, fragment_a, shared.a[0]);
    b.Store(t, fragment_b, shared.b[0]);
    t.SyncThreads();

    WEFT_NO_UNROLL
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      const bool more = k_tile + 1 < k_tiles;
      const int now = k_tile & 1;
      if (more) {
        a.Load(t, fragment_a);
        b.Load(t, fragment_b);
      }
      Mma::Multiply(t, shared.a[now], shared.b[now], acc);
      if (more) {
        // The other stage was last read before the previous barrier.
        a.Store(t, fragment_a, shared.a[now ^ 1]);
        b.Store(t, fragment_b, shared.b[now ^ 1]);
        t.SyncThreads();
      }
    }
  }
};

// Calls step(0), step(1), ..., with numbers that are types. In a loop of many steps the compiler
// gives up unrolling before it has dropped a mainloop's copies from all steps but one.
template <int kSteps, class Step>
WEFT_DEVICE void UnrolledSteps(const Step& step) {
  [&]<int... kIndices>(std::integer_sequence<int, kIndices...>) {
    (step(std::integral_constant<int, kIndices>()), ...);
  }(std::make_integer_sequence<int, kSteps>());
}

// How a mainloop multiplies the stages of a CpAsyncRing, in Mma::kSteps steps each: its
// Mma::Fragments inherits these defaults. A mainloop that reads operands into registers holds those
// of one step while those of the next are loaded; one of asynchronous products only starts and
// awaits them.
struct RingFragments {
  // Loads step 0 of stage 0.
  WEFT_DEVICE void First(arch::Thread) {}
  // Before a step; stage: the step's own.
  template <int kStep, class Accumulators>
  WEFT_DEVICE void Before(arch::Thread, int /*stage*/, Accumulators&) {}
  // Before the barrier that hands the next k tile over: returns when this thread's products no
  // longer read the stage that is copied into after that barrier.
  WEFT_DEVICE void WaitForFree(arch::Thread) {}
  // stage: of the step after it. Calls copies(point, points) as it goes, which spreads the copies
  // over the steps: kCopyPoints times for a k tile, always before its last step unless that is the
  // only one.
  template <int kStep, class Accumulators, class Copies>
  WEFT_DEVICE void Step(arch::Thread, int /*stage*/, Accumulators&, const Copies&) {}
  // Returns when all products are complete.
  template <class Accumulators>
  WEFT_DEVICE void Last(arch::Thread, Accumulators&) {}
};

// A ring of kStages >= 3 stages that cp.async fills: the copies of a k tile are started as many k
// tiles ahead as the mainloop leaves stages, which multiplies Mma::kStagesRead of them at a time.
//
// The wait for a k tile stands before the last step of the k tile before it, so that its first
// operands, too, are loaded in time. Copies past the last k tile write zeros that nobody reads.
template <class Mma>
struct CpAsyncRing : PipelineTraits {
  static constexpr int kStages = Mma::kStages, kAhead = kStages - Mma::kStagesRead;
  static constexpr bool kAsync = true;
  using Mainloop = Mma;
  using Stages = OperandStages<Mma, kStages>;

  template <AsyncOperand OperandA, AsyncOperand OperandB>
  WEFT_DEVICE static void Run(arch::Thread t, Stages& shared, OperandA& a, OperandB& b, int k_tiles,
                              typename Mma::Accumulators& acc) {
    const std::uint32_t a0 = t.SharedAddress(shared.a), b0 = t.SharedAddress(shared.b);
    if constexpr (OperandA::kLoadsAhead) a.Begin(t);
    if constexpr (OperandB::kLoadsAhead) b.Begin(t);
    WEFT_UNROLL
    for (int stage = 0; stage < kAhead; ++stage) {
      Copy(t, a, a0 + stage * Mma::kBytesA, 0, OperandA::kPieces);
      Copy(t, b, b0 + stage * Mma::kBytesB, 0, OperandB::kPieces);
      t.CpAsyncCommit();
    }
    t.template CpAsyncWait<kAhead - 1>();
    t.SyncThreads();
    typename Mma::Fragments fragments(t, shared);
    fragments.First(t);

    int read = 0, write = kAhead;
    WEFT_NO_UNROLL
    for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
      // Copies into stage `write`, which is free: a barrier has come after its last read.
      const auto copies = [&](int point, int points) {
        const std::uint32_t to_a = a0 + write * Mma::kBytesA, to_b = b0 + write * Mma::kBytesB;
        if constexpr (Mma::kCopyPoints == 2) {  // one copy point for each operand
          if (point == 0) Copy(t, a, to_a, 0, OperandA::kPieces);
          if (point == 1) Copy(t, b, to_b, 0, OperandB::kPieces);
        } else {
          constexpr int kAll = OperandA::kPieces + OperandB::kPieces;
          const int begin = CeilDiv(point * kAll, points),
                    end = CeilDiv((point + 1) * kAll, points);
          Copy(t, a, to_a, begin, end < OperandA::kPieces ? end : OperandA::kPieces);
          Copy(t, b, to_b, begin > OperandA::kPieces ? begin - OperandA::kPieces : 0,
               end - OperandA::kPieces);
        }
      };
      const auto step = [&](auto index) {
        constexpr int kStep = index();
        fragments.template Before<kStep>(t, read, acc);
        if constexpr (kStep == Mma::kSteps - 1) {
          if constexpr (kStep == 0) {
            for (int point = 0; point < Mma::kCopyPoints; ++point) copies(point, Mma::kCopyPoints);
          }
          t.CpAsyncCommit();
          fragments.WaitForFree(t);
          t.template CpAsyncWait<kAhead - 1>();
          t.SyncThreads();  // the next k tile has landed for all
          read = read + 1 == kStages ? 0 : read + 1;
        }
        fragments.template Step<kStep>(t, read, acc, copies);
      };
      UnrolledSteps<Mma::kSteps>(step);
      write = write + 1 == kStages ? 0 : write + 1;
    }
    fragments.Last(t, acc);
    t.template CpAsyncWait<0>();
  }

 private:
  template <class Op>
  WEFT_DEVICE static void Copy(arch::Thread t, Op& op, std::uint32_t to, int begin, int end) {
    WEFT_UNROLL
    for (int v = 0; v < Op::kPieces; ++v) {
      if (v >= begin && v < end) op.CopyPiece(t, to, v);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
