// The reduction of cluster split-K: adds up the accumulators of blocks that have multiplied
// different k tiles of one tile.
//
// Each block owns a part of the tile's rows and sends its accumulators of all others to their
// owners: straight from registers by st.async, warp by warp (threads of the same number hold the
// same outputs in each block), to an mbarrier that counts the bytes when they arrive. Nobody waits
// until a store is visible: ptxas makes a fence of the cluster, which would order the stores
// (ClusterArrive, MbarArriveRemote), a fence of the whole GPU's memory, which takes longer than the
// exchange.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Mma: a WgmmaSm90Mainloop with kClusterSplit > 1.
template <class Mma>
class ClusterSplitKSums {
  using Sum = typename Mma::Sum;
  static constexpr int kRanks = Mma::kClusterSplit, kWarps = Mma::kThreads / 32;
  static constexpr int kParts = Mma::kOwnN / 8;          // groups of 8 rows that a block owns
  static constexpr int kPieces = Mma::kBlocks * kParts;  // of a thread, each of 4 accumulators
  static constexpr int kBytes = (kRanks - 1) * kPieces * 32 * 16;  // received by a warp
  struct alignas(16) Piece {
    Sum sum[4];
  };

 public:
  struct Shared {
    Piece received[kWarps][kRanks - 1][kPieces][32];
    std::uint64_t full[kWarps], empty[kWarps];  // mbarriers: all received; all sent was read
  };

  // Called by all threads of the block, before a barrier of the block: initializes the mbarriers.
  WEFT_DEVICE static void Begin(arch::Thread t, Shared& shared) {
    if (t.tid() == 0) {
      for (int i = 0; i < kWarps; ++i) {
        t.MbarInit(t.SharedAddress(&shared.full[i]), 1);
        t.MbarInit(t.SharedAddress(&shared.empty[i]), kRanks - 1);
      }
      t.FenceMbarInit();
      for (int i = 0; i < kWarps; ++i) t.MbarArriveTx(t.SharedAddress(&shared.full[i]), kBytes);
    }
  }

  // Called by the consumers, after a barrier of the cluster: own = what the accumulators of all
  // blocks of the cluster add up to in the rows that this block owns. `round` counts the calls from
  // 0; is_last: none will follow.
  WEFT_DEVICE static void Add(arch::Thread t, Shared& shared, const typename Mma::Accumulators& acc,
                              int round, bool is_last, typename Mma::OwnSums& own) {
    const int rank = t.cluster_rank(), warp = t.warp();
    Piece piece[kRanks][kPieces];  // part [q] belongs to the block of rank ^ q
    WEFT_UNROLL
    for (int q = 0; q < kRanks; ++q) {
      WEFT_UNROLL
      for (int i = 0; i < kPieces; ++i) {
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          piece[q][i].sum[e] = acc[i / kParts][(q * kParts + i % kParts) * 4 + e];
        }
      }
    }
    WEFT_UNROLL
    for (int bit = 1; bit < kRanks; bit *= 2) {
      WEFT_UNROLL
      for (int q = 0; q < kRanks; ++q) {
        if ((q & bit) == 0) SwapIf((rank & bit) != 0, piece[q], piece[q + bit]);
      }
    }

    const std::uint32_t full = t.SharedAddress(&shared.full[warp]);
    const std::uint32_t empty = t.SharedAddress(&shared.empty[warp]);
    if (round > 0) t.MbarWait(empty, (round - 1) & 1);
    // In each step every block sends to a different one.
    WEFT_UNROLL
    for (int q = 1; q < kRanks; ++q) {
      const std::uint32_t to =
          t.MapToRank(t.SharedAddress(&shared.received[warp][q - 1][0][t.lane()]), rank ^ q);
      const std::uint32_t bar = t.MapToRank(full, rank ^ q);
      WEFT_UNROLL
      for (int i = 0; i < kPieces; ++i) {
        t.StoreRemoteAsync(to + i * sizeof(Piece) * 32, piece[q][i], bar);
      }
    }
    t.MbarWait(full, round & 1);
    WEFT_UNROLL
    for (int i = 0; i < kPieces; ++i) {
      WEFT_UNROLL
      for (int q = 1; q < kRanks; ++q) {
        piece[q][i] = t.LoadShared(&shared.received[warp][q - 1][i][t.lane()]);
      }
      // Pairs are added first, then pairs of pairs: the sum of floats is then the same whichever
      // block makes it.
      WEFT_UNROLL
      for (int bit = 1; bit < kRanks; bit *= 2) {
        WEFT_UNROLL
        for (int q = 0; q < kRanks; q += 2 * bit) {
          WEFT_UNROLL
          for (int e = 0; e < 4; ++e) piece[q][i].sum[e] += piece[q + bit][i].sum[e];
        }
      }
      WEFT_UNROLL
      for (int e = 0; e < 4; ++e) own[i / kParts][i % kParts * 4 + e] = piece[0][i].sum[e];
    }
    if (is_last) return;  // nobody sends anything more, and the block may return
    t.SyncWarp();
    if (t.lane() == 0) {
      t.MbarArriveTx(full, kBytes);
    } else if (t.lane() < kRanks) {
      t.MbarFreeRemote(t.MapToRank(empty, rank ^ t.lane()));
    }
  }

 private:
  WEFT_DEVICE static void SwapIf(bool swap, Piece (&a)[kPieces], Piece (&b)[kPieces]) {
    WEFT_UNROLL
    for (int i = 0; i < kPieces; ++i) {
      WEFT_UNROLL
      for (int e = 0; e < 4; ++e) {
        const Sum x = a[i].sum[e], y = b[i].sum[e];
        a[i].sum[e] = swap ? y : x;
        b[i].sum[e] = swap ? x : y;
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
