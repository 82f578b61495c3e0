// TmaProducer, the producer of an MbarRing (mbar_ring.hpp) whose operands TMA loads. One thread of
// the producer warpgroup's first warp loads the k tiles of operand B, and one thread of each of up
// to three further warps a share of those of operand A. Where three warps transform stages, one
// thread loads both operands.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/producer.hpp"
#include "weft/gemm/ring/ring_stages.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

// Which of a k tile's TMA copies a thread starts: those numbered from `begin` to below `end`, as
// far as there are so many.
struct CopyShare {
  int begin = 0, end = 1 << 30;
  constexpr int Count(int all) const {
    const int last = all < end ? all : end;
    return last > begin ? last - begin : 0;
  }
};

// An operand that TmaProducer loads: each of its threads starts its share of the copies of a k tile
// to the shared address `to`, k tile after k tile from 0 or from Seek's on. The copies report
// Bytes(k_tile, share) bytes to the mbarrier at `bar`. Without a share, one thread starts all of
// them. Where B reports no bytes (only with Shape::kMayHaveNoK), there is no k, and its thread writes
// a stage of zeros. Prefetch has TMA load what Copy would, but only into the L2. TmaOperand
// (gemm/hopper/tma_operand.hpp) is one.
template <class Type>
concept LoadedByTma =
    requires(Type op, arch::Thread t, std::uint32_t to, std::uint32_t bar, CopyShare share) {
      op.Seek(0);
      { op.Bytes(0, share) } -> std::convertible_to<int>;
      op.Copy(t, to, bar, 0, share);
      op.Copy(t, to, bar, 0);
      op.Prefetch(t, 0, share);
    };

// How many of a tile's `rows` rows (or columns) are loaded where the product has `all` of them:
// those that exist, in multiples of 8, after which swizzles repeat. Rows beyond the product's,
// which merely fill up the tile, would cost TMA more than those that exist.
constexpr std::int64_t LoadedRows(std::int64_t rows, std::int64_t all) {
  const std::int64_t some = 8 * CeilDiv<std::int64_t>(all, 8);
  return some < rows ? some : rows;
}

inline namespace WEFT_BACKEND {

template <class Shape>
struct TmaProducer : ProducerTraits {
  using Params = MbarRingParams;
  // For functions to read: where Shape names its producer, it has not declared kTransforms yet, and
  // what asked for the value there would get it of the default that Shape inherits.
  static constexpr int RowThreads() {
    return Params::kMostRowThreads - (Shape::kTransforms ? Shape::kTransformWarps : 0);
  }

  WEFT_DEVICE static int Arrivals(arch::Thread, const Params& p) { return 1 + p.row_threads; }

  // One thread of each loading warp, that of warp 0 for operand B. It is elected, so that ptxas
  // knows that it is alone: otherwise ptxas makes sure of that at every copy, which took as long as
  // some of the copies.
  WEFT_DEVICE static bool Loads(arch::Thread t, int producer, const Params& p) {
    return producer <= p.row_threads && t.ElectOne();
  }

  // Prefetches the first k tiles of A into the L2. Nobody reads them before the wait for earlier
  // kernels.
  template <LoadedByTma OperandA>
  WEFT_DEVICE static void Prefetch(arch::Thread t, const Params& p, int producer, OperandA& a,
                                   const KTileRange& k_tiles) {
    SeekFirst(a, k_tiles);
    const CopyShare share = ShareOf(p, producer);
    const int end =
        k_tiles.begin + p.prefetch < k_tiles.end ? k_tiles.begin + p.prefetch : k_tiles.end;
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < end; ++k_tile) a.Prefetch(t, k_tile, share);
  }

  template <class Stages, LoadedByTma OperandA, LoadedByTma OperandB>
  WEFT_DEVICE static void Produce(arch::Thread t, Stages& shared, const Params& p, int producer,
                                  OperandA& a, OperandB& b, const KTileRange& k_tiles, int early,
                                  State& state) {
    static_assert(RowThreads() >= 0);
    if constexpr (Shape::kMayHaveNoK) {
      if (producer == 0 && b.Bytes(0) == 0) return Clear(t, shared, p, k_tiles, state);
    }
    if constexpr (RowThreads() == 0) {
      SeekFirst(a, k_tiles);
      SeekFirst(b, k_tiles);
      if (early >= 0) t.WaitForEarlierGrids();
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        const std::uint32_t full = shared.WaitForEmpty(t, state);
        t.MbarArriveTx(full, a.Bytes(k_tile) + b.Bytes(k_tile));
        b.Copy(t, shared.KTileOfB(t, p, state.slot, k_tile), full, k_tile);
        a.Copy(t, shared.Stage(t, p, state.slot), full, k_tile);
        state.Next(p.stages);
      }
    } else if (producer == 0) {
      SeekFirst(b, k_tiles);
      const bool loads = early >= 0 || !p.b_stays;
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        if (k_tile - k_tiles.begin == early) t.WaitForEarlierGrids();
        const std::uint32_t full = shared.WaitForEmpty(t, state);
        if (loads) {
          t.MbarArriveTx(full, b.Bytes(k_tile));
          b.Copy(t, shared.KTileOfB(t, p, state.slot, k_tile), full, k_tile);
        } else {
          t.MbarArrive(full);
        }
        state.Next(p.stages);
      }
    } else {
      SeekFirst(a, k_tiles);
      if (early >= 0) t.WaitForEarlierGrids();
      const CopyShare share = ShareOf(p, producer);
      WEFT_NO_UNROLL
      for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
        const std::uint32_t full = shared.WaitForEmpty(t, state);
        const int bytes = a.Bytes(k_tile, share);
        // A thread without copies arrives, too: otherwise the ring could run ahead of it, and it
        // would lose count of phases.
        if (bytes == 0) {
          t.MbarArrive(full);
        } else {
          t.MbarArriveTx(full, bytes);
          a.Copy(t, shared.Stage(t, p, state.slot), full, k_tile, share);
        }
        state.Next(p.stages);
      }
    }
  }

 private:
  // Produces k tiles of zeros.
  template <class Stages>
  WEFT_DEVICE static void Clear(arch::Thread t, Stages& shared, const Params& p,
                                const KTileRange& k_tiles, State& state) {
    WEFT_NO_UNROLL
    for (int k_tile = k_tiles.begin; k_tile < k_tiles.end; ++k_tile) {
      const std::uint32_t full = shared.WaitForEmpty(t, state);
      shared.Clear(t, p, state.slot);
      t.MbarArrive(full);
      state.Next(p.stages);
    }
  }
  WEFT_DEVICE static CopyShare ShareOf(const Params& p, int producer) {
    return {(producer - 1) * p.thread_copies, producer * p.thread_copies};
  }
  // An operand begins at k tile 0, unless its block's range of k tiles begins elsewhere.
  template <class OperandT>
  WEFT_DEVICE static void SeekFirst(OperandT& operand, const KTileRange& k_tiles) {
    if constexpr (Shape::kClusterSplit > 1) operand.Seek(k_tiles.begin);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
