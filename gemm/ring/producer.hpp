// What a producer of an MbarRing (mbar_ring.hpp) is, with the defaults that it inherits: the threads
// of the block's last warpgroup, which fill stages.
#pragma once

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/ring_stages.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// A producer is a template of its mainloop's Shape, which has the ring's threads. Besides
// what it declares again of this, it has
//
//     // Loads the k tiles of one tile. early: in the block's first tile, how many k tiles of
//     // operand B (at most the ring's stages) are loaded before earlier kernels of the stream are
//     // waited for; negative in later tiles.
//     template <class Stages, class OperandA, class OperandB>  // Stages: a RingStages
//     WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared,
//                                     const MbarRingParams& p, int producer, OperandA& a,
//                                     OperandB& b, const KTileRange& k_tiles, int early,
//                                     State& state);
//
// where `producer` is, here and below, the number of the thread's warp among the producers.
struct ProducerTraits {
  static constexpr int kThreads = 128;
  // Registers of a producer thread, where producers give registers to consumers.
  static constexpr int Registers() { return 24; }
  // The most threads that share the copies of operand A; 0 where operand B's thread loads A, or
  // all threads load both.
  static constexpr int RowThreads() { return 0; }
  // A stage holds all k of operand A of a tile. Operand B is the consumers' (first_layer.hpp).
  static constexpr bool kFirstLayer = false;
  // What producers have in shared memory beside the stages.
  struct Memory {};
  // A thread's place in the ring, and what it remembers from tile to tile.
  using State = RingState;

  // How many arrivals end a phase of `full`.
  WEFT_DEVICE static int Arrivals(arch::Thread, const MbarRingParams&) { return kThreads; }
  // One thread calls it for each stage, before all else.
  template <class OwnMemory>
  WEFT_DEVICE static void Begin(arch::Thread, OwnMemory&, int /*stage*/) {}
  // Whether this thread loads anything: only then it calls Prefetch and Produce.
  WEFT_DEVICE static bool Loads(arch::Thread, int /*producer*/, const MbarRingParams&) {
    return true;
  }
  // For the block's first tile, before the kernel waits for earlier ones.
  template <class OperandA, class KTiles>
  WEFT_DEVICE static void Prefetch(arch::Thread, const MbarRingParams&, int /*producer*/, OperandA&,
                                   const KTiles&) {}
  // Called by the consumers when they have waited for a stage: makes what is in it visible to wgmma,
  // which sees without a fence what TMA has written.
  WEFT_DEVICE static void Landed(arch::Thread, const MbarRingParams&) {}
  // Called last, by all threads of the producer warpgroup.
  WEFT_DEVICE static void Finish(arch::Thread) {}
};

// The base of producers that copy by cp.async: none of their threads may exit before its copies
// have landed.
struct CpAsyncProducerTraits : ProducerTraits {
  WEFT_DEVICE static void Finish(arch::Thread t) {
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
