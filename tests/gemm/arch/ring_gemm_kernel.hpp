// The primitives of sm_90 together: a persistent matrix product of signed bytes, warp-specialised.
// One lane loads k tiles of both operands through a ring of stages, two warpgroups multiply them.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

// c[m][n] = sum over k of a[m][k] * b[n][k], in tiles of 128 x kTileN.
template <int kTileN>
struct RingGemmKernel {
  static constexpr int kThreads = 384;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  static constexpr int kTileM = 128, kTileK = 128, kStages = 3;
  static constexpr int kConsumerWarps = 8;

  struct Params {
    TensorMap a;  // [m][k], boxes of kTileM x kTileK, swizzle of 128
    TensorMap b;  // [n][k], boxes of kTileN x kTileK
    int32_t* c;   // [m][n]
    int m, n, k;
    int blocks;  // of the grid
  };
  struct SharedStorage {
    alignas(1024) unsigned char a[kStages][kTileM * kTileK];
    alignas(1024) unsigned char b[kStages][kTileN * kTileK];
    uint64_t full[kStages], empty[kStages];
  };
  static_assert(kTileN % 8 == 0);  // so that stages of b begin at multiples of 1024

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    if (t.tid() == 0) {
      for (int i = 0; i < kStages; ++i) {
        t.MbarInit(t.SharedAddress(&shared.full[i]), 1);
        t.MbarInit(t.SharedAddress(&shared.empty[i]), kConsumerWarps);
      }
      t.FenceMbarInit();
      t.PrefetchTensorMap(p.a);
      t.PrefetchTensorMap(p.b);
      t.TmaPrefetch(p.a, {0, 0});
    }
    t.SyncThreads();
    if (t.warp() < 4) {
      t.template SetMaxRegDec<40>();
      if (t.tid() == 0) Produce(p, shared, t);
    } else {
      t.template SetMaxRegInc<232>();
      Consume(p, shared, t);
    }
  }

 private:
  WEFT_DEVICE static int TilesM(const Params& p) { return (p.m + kTileM - 1) / kTileM; }
  WEFT_DEVICE static int Tiles(const Params& p) {
    return TilesM(p) * ((p.n + kTileN - 1) / kTileN);
  }
  WEFT_DEVICE static int KTiles(const Params& p) { return (p.k + kTileK - 1) / kTileK; }

  WEFT_DEVICE static void Produce(const Params& p, SharedStorage& shared, Thread t) {
    int step = 0;  // counts k tiles across tiles: the ring does not stop between them
    for (int tile = t.block_x(); tile < Tiles(p); tile += p.blocks) {
      for (int k_tile = 0; k_tile < KTiles(p); ++k_tile, ++step) {
        const int slot = step % kStages, parity = step / kStages % 2;
        const uint32_t full = t.SharedAddress(&shared.full[slot]);
        t.MbarWait(t.SharedAddress(&shared.empty[slot]), parity ^ 1);
        t.MbarArriveTx(full, (kTileM + kTileN) * kTileK);
        t.TmaLoad(t.SharedAddress(shared.a[slot]), p.a, full,
                  {k_tile * kTileK, tile % TilesM(p) * kTileM});
        t.TmaLoad(t.SharedAddress(shared.b[slot]), p.b, full,
                  {k_tile * kTileK, tile / TilesM(p) * kTileN});
      }
    }
  }

  WEFT_DEVICE static void Consume(const Params& p, SharedStorage& shared, Thread t) {
    constexpr WgmmaLayout kLayout{.swizzle = SwizzleSpan::k128, .leading = 16, .stride = 1024};
    const int group = t.WarpUniform(t.warp() / 4 - 1);  // which 64 rows of the tile
    int step = 0;
    for (int tile = t.block_x(); tile < Tiles(p); tile += p.blocks) {
      int32_t d[kTileN / 2];
      int previous = -1;  // the slot whose products may be in flight
      for (int k_tile = 0; k_tile < KTiles(p); ++k_tile, ++step) {
        const int slot = step % kStages;
        t.MbarWait(t.SharedAddress(&shared.full[slot]), step / kStages % 2);
        const uint64_t a =
            WgmmaDescriptor(t.SharedAddress(shared.a[slot]) + group * 64 * kTileK, kLayout);
        const uint64_t b = WgmmaDescriptor(t.SharedAddress(shared.b[slot]), kLayout);
        t.KeepInPlace(d);
        t.WgmmaFence();
        WEFT_UNROLL
        for (int i = 0; i < kTileK / 32; ++i) {
          t.template WgmmaS8<kTileN>(d, a + 2 * i, b + 2 * i, k_tile > 0 || i > 0);
        }
        t.WgmmaCommit();
        t.template WgmmaWait<1>();
        if (previous >= 0) Release(shared, t, previous);
        previous = slot;
      }
      t.template WgmmaWait<0>();
      t.KeepInPlace(d);
      Release(shared, t, previous);
      Store(p, t, tile, group, d);
    }
  }

  WEFT_DEVICE static void Release(SharedStorage& shared, Thread t, int slot) {
    t.SyncWarp();
    if (t.ElectOne()) t.MbarArrive(t.SharedAddress(&shared.empty[slot]));
  }

  WEFT_DEVICE static void Store(const Params& p, Thread t, int tile, int group,
                                const int32_t (&d)[kTileN / 2]) {
    const int first_m = tile % TilesM(p) * kTileM + group * 64 + t.warp() % 4 * 16 + t.lane() / 4;
    const int first_n = tile / TilesM(p) * kTileN + t.lane() % 4 * 2;
    WEFT_UNROLL
    for (int r = 0; r < kTileN / 2; ++r) {
      const int m = first_m + r / 2 % 2 * 8, n = first_n + r / 4 * 8 + r % 2;
      if (m < p.m && n < p.n) {
        t.StoreGlobal(p.c + static_cast<int64_t>(m) * p.n + n, d[r]);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
