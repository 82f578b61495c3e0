// Adding up the sums of a cluster whose blocks have multiplied different k tiles of one tile.
//
// Each block keeps a part of the tile's rows, its own, and sends the rest to their owners: straight
// from registers, warp by warp (threads of the same number hold the same outputs), with an mbarrier
// that counts the bytes as they come. Nobody waits for a store to be visible: ordering them with a
// fence of the cluster (ClusterArrive, MbarArriveRemote) is one of the whole GPU's memory for ptxas,
// which takes longer than the exchange.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Mma: the WgmmaSm90Mainloop, with kClusterSplit > 1.
template <class Mma>
class ClusterSplitKSums {
  using Sum = typename Mma::Sum;
  static constexpr int kRanks = Mma::kClusterSplit, kWarps = Mma::kThreads / 32;
  static constexpr int kParts = Mma::kOwnN / 8;          // of 8 rows, of a block's own
  static constexpr int kPieces = Mma::kBlocks * kParts;  // of 4 sums of a thread, likewise
  static constexpr int kBytes = (kRanks - 1) * kPieces * 32 * 16;  // that a warp receives
  struct alignas(16) Piece {
    Sum sum[4];
  };

 public:
  struct Shared {
    Piece received[kWarps][kRanks - 1][kPieces][32];
    std::uint64_t full[kWarps], empty[kWarps];  // mbarriers: all has come, has been read by all
  };

  // By all threads of the block, before a barrier of the block.
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

  // By the threads that multiply, after a barrier of the cluster: own = what the cluster's acc of
  // the block's own rows add up to. `round` counts the calls from 0; is_last: none will follow.
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
    // Each block begins with another one.
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
      // Pairs, then pairs of pairs: floats too add up to the same in every block.
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
