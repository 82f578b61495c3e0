// The reduction of sliced k: adds up the accumulators of warps that share the k tiles of a tile.
//
// Where config.warp.k is less than config.threadblock.k, kParts warps have the same warp tile and
// each multiplies its part of every k tile, which gives a small output more warps. The warps of the
// first part come first in the block, then those of the second, and so on.
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/warp_tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The base of mainloop Mma, whose Accumulators are an array Sum[..][..].
template <class Mma, int kParts>
class SlicedSums {
  template <class Sums>
  struct Of {
    using Sum = std::remove_all_extents_t<Sums>;
    static constexpr int kPartThreads = Mma::kThreads / kParts;
    static constexpr int kInner = std::extent_v<Sums, 1>, kSums = std::extent_v<Sums, 0> * kInner;
    static constexpr int kVector = 16 / sizeof(Sum);
    static_assert(kSums % kVector == 0);
    using Vector = SharedVector<Sum, kVector>;
  };

 public:
  // The accumulators of later parts, on their way to the threads of the first part that have the
  // same outputs.
  struct Scratch {
    using Division = Of<typename Mma::Accumulators>;
    typename Division::Vector sums[kParts - 1][Division::kSums / Division::kVector]
                                  [Division::kPartThreads];
  };

  // Called by all threads after the last k tile, whose stages the scratch replaces: adds the
  // accumulators of the parts in order, first to last. Returns whether acc then holds this thread's
  // share of the result, which is so in threads of the first part.
  template <class Sums>
  WEFT_DEVICE static bool Finish(arch::Thread t, Scratch& scratch, Sums& acc) {
    using Division = Of<Sums>;
    const int part = t.tid() / Division::kPartThreads, thread = t.tid() % Division::kPartThreads;
    t.SyncThreads();  // the stages are no longer read
    if (part > 0) {
      WEFT_UNROLL
      for (int v = 0; v < Division::kSums / Division::kVector; ++v) {
        typename Division::Vector vector;
        WEFT_UNROLL
        for (int e = 0; e < Division::kVector; ++e)
          vector.value[e] = At<Division>(acc, v * Division::kVector + e);
        t.StoreShared(&scratch.sums[part - 1][v][thread], vector);
      }
    }
    t.SyncThreads();
    if (part > 0) return false;
    WEFT_UNROLL
    for (int other = 0; other < kParts - 1; ++other) {
      WEFT_UNROLL
      for (int v = 0; v < Division::kSums / Division::kVector; ++v) {
        const typename Division::Vector vector = t.LoadShared(&scratch.sums[other][v][thread]);
        WEFT_UNROLL
        for (int e = 0; e < Division::kVector; ++e)
          At<Division>(acc, v * Division::kVector + e) += vector.value[e];
      }
    }
    return true;
  }

 private:
  template <class Division, class Sums>
  WEFT_DEVICE static typename Division::Sum& At(Sums& acc, int sum) {
    return acc[sum / Division::kInner][sum % Division::kInner];
  }
};

// Without sliced k nothing is added: each thread has its outputs.
template <class Mma>
class SlicedSums<Mma, 1> {};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
