// Kernels of sm_90 with a planted bug, each beside its correct twin (HopperBug::kNone), to test the
// checkers. Reports must name this file.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

enum class HopperBug {
  kNone,
  kMissingMbarFence,
  kMissingFullWait,
  kEarlyRelease,
  kTooFewBytesExpected,
  kTooManyBytesExpected,
  kMissingWgmmaFence,
  kMissingWgmmaWait,
  kShortWgmmaWait,
  kSumsTouchedInFlight,
  kOperandTouchedInFlight,
  kMissingFenceOfOperand,
  kWrongSwizzle,
  kWrongStride,
  kOneWarpDiffers,
  kMisalignedBox,
  kMissingProxyFence,
  kTakesEveryOtherPhase,
  kPassesPhases,
  kMissingDependencyWait,
  kReadOnlyLoad,
  kMissingFirstClusterSync,
  kMissingLastClusterSync,
  kMissingWaitForWhatIsSent,
  kMissingWaitBeforeSending,
  kCopyNobodyWaitsFor,
  kTooManyArrivals,
  kBarrierOverwritten,
  kRegistersThatNobodyGives,
};

// The skeleton of a warp-specialised product: one lane of warp 0 loads tiles of a and b through a
// ring of stages, warps 4 to 7 multiply them.
template <HopperBug kBug>
struct HopperRingKernel {
  static constexpr int kThreads = 256;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  static constexpr int kStages = 3, kN = 32;
  static constexpr uint32_t kBytesA = 64 * 32, kBytesB = kN * 32;

  struct Params {
    TensorMap a;   // [tiles * 64][32] signed bytes, swizzle of 32
    TensorMap b;   // [tiles * kN][32]
    int32_t* dst;  // [128][kN / 2]: the registers
    int tiles;
  };
  struct SharedStorage {
    alignas(1024) unsigned char stage[kStages][kBytesA + kBytesB];
    uint64_t full[kStages], empty[kStages];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const uint32_t full = t.SharedAddress(shared.full), empty = t.SharedAddress(shared.empty);
    const uint32_t stages = t.SharedAddress(shared.stage);
    if (t.tid() == 0) {
      for (int i = 0; i < kStages; ++i) {
        t.MbarInit(full + 8 * i, 1);
        t.MbarInit(empty + 8 * i, 4);
      }
      if constexpr (kBug != HopperBug::kMissingMbarFence) t.FenceMbarInit();
    }
    t.SyncThreads();
    if (t.tid() == 0) Produce(p, t, stages, full, empty);
    if (t.warp() >= 4) Consume(p, t, stages, full, empty);
  }

 private:
  WEFT_DEVICE static void Produce(const Params& p, Thread t, uint32_t stages, uint32_t full,
                                  uint32_t empty) {
    for (int tile = 0; tile < p.tiles; ++tile) {
      const int slot = tile % kStages, parity = tile / kStages % 2;
      const uint32_t stage = stages + slot * (kBytesA + kBytesB);
      constexpr int kOff = kBug == HopperBug::kTooFewBytesExpected    ? -64
                           : kBug == HopperBug::kTooManyBytesExpected ? 64
                                                                      : 0;
      t.MbarWait(empty + 8 * slot, parity ^ 1);
      t.MbarArriveTx(full + 8 * slot, kBytesA + kBytesB + kOff);
      t.TmaLoad(stage, p.a, full + 8 * slot,
                {kBug == HopperBug::kMisalignedBox ? 8 : 0, tile * 64});
      t.TmaLoad(stage + kBytesA, p.b, full + 8 * slot, {0, tile * kN});
    }
  }

  WEFT_DEVICE static void Consume(const Params& p, Thread t, uint32_t stages, uint32_t full,
                                  uint32_t empty) {
    constexpr WgmmaLayout kLayout{
        .swizzle = kBug == HopperBug::kWrongSwizzle ? SwizzleSpan::kNone : SwizzleSpan::k32,
        .leading = 16,
        .stride = kBug == HopperBug::kWrongStride ? 128 : 256};
    int32_t d[kN / 2] = {};
    const auto release = [&](int slot) {
      t.SyncWarp();
      if (t.ElectOne()) t.MbarArrive(empty + 8 * slot);
    };
    for (int tile = 0; tile < p.tiles; ++tile) {
      const int slot = tile % kStages, parity = tile / kStages % 2;
      const uint32_t stage = stages + slot * (kBytesA + kBytesB);
      if constexpr (kBug != HopperBug::kMissingFullWait) t.MbarWait(full + 8 * slot, parity);
      t.KeepInPlace(d);
      if constexpr (kBug != HopperBug::kMissingWgmmaFence) t.WgmmaFence();
      const uint32_t other = kBug == HopperBug::kOneWarpDiffers && t.warp() == 6 ? 32 : 0;
      t.template WgmmaS8<kN>(d, WgmmaDescriptor(stage + other, kLayout),
                             WgmmaDescriptor(stage + kBytesA, kLayout));
      t.WgmmaCommit();
      if constexpr (kBug == HopperBug::kEarlyRelease) release(slot);
      if constexpr (kBug == HopperBug::kSumsTouchedInFlight) d[0] += 1;
      if constexpr (kBug == HopperBug::kShortWgmmaWait) {
        t.template WgmmaWait<1>();
      } else if constexpr (kBug != HopperBug::kMissingWgmmaWait) {
        t.template WgmmaWait<0>();
      }
      if constexpr (kBug != HopperBug::kEarlyRelease) release(slot);
    }
    t.KeepInPlace(d);
    for (int r = 0; r < kN / 2; ++r) p.dst[(t.tid() - 128) * kN / 2 + r] = d[r];
  }
};

// Operands that the block's threads write themselves.
template <HopperBug kBug>
struct ProxyKernel {
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  struct Params {
    int32_t* dst;  // [128]: one sum of each thread, 32 * 1 * 1
  };
  struct SharedStorage {
    alignas(1024) uint32_t a[64 * 8];
    alignas(1024) uint32_t b[8 * 8];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int i = t.tid(); i < 64 * 8; i += kThreads) t.StoreShared(&shared.a[i], 0x01010101u);
    if (t.tid() < 64) t.StoreShared(&shared.b[t.tid()], 0x01010101u);
    if constexpr (kBug != HopperBug::kMissingProxyFence) t.FenceProxyAsync();
    t.SyncThreads();
    int32_t d[4] = {};
    constexpr WgmmaLayout kLayout{SwizzleSpan::k32, 16, 256};
    t.KeepInPlace(d);
    t.WgmmaFence();
    t.template WgmmaS8<8>(d, WgmmaDescriptor(t.SharedAddress(shared.a), kLayout),
                          WgmmaDescriptor(t.SharedAddress(shared.b), kLayout));
    t.WgmmaCommit();
    t.template WgmmaWait<0>();
    t.KeepInPlace(d);
    p.dst[t.tid()] = d[t.tid() % 4];
  }
};

// Two products one after the other of operand a in registers, onto sums of their own.
template <HopperBug kBug>
struct RsKernel {
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  struct Params {
    int32_t* dst;  // [128]: one sum of each thread, 32 * 1 * 1 + 32 * 2 * 1
  };
  struct SharedStorage {
    alignas(1024) uint32_t b[8 * 8];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    if (t.tid() < 64) t.StoreShared(&shared.b[t.tid()], 0x01010101u);
    t.FenceProxyAsync();
    t.SyncThreads();
    const uint64_t b = WgmmaDescriptor(t.SharedAddress(shared.b), {SwizzleSpan::k32, 16, 256});
    int32_t d[2][4] = {};
    uint32_t a[4];
    WEFT_UNROLL
    for (int i = 0; i < 2; ++i) {
      for (uint32_t& x : a) x = (i + 1) * 0x01010101u;
      t.KeepInPlace(d[i]);
      if (kBug != HopperBug::kMissingFenceOfOperand || i == 0) t.WgmmaFence();
      t.template WgmmaS8<8>(d[i], a, b);
      t.WgmmaCommit();
      if (kBug == HopperBug::kOperandTouchedInFlight) a[3] += 1;
      t.template WgmmaWait<0>();
      t.KeepInPlace(d[i]);
      t.KeepInPlace(a);
    }
    p.dst[t.tid()] = d[0][t.tid() % 4] + d[1][t.tid() % 4];
  }
};

// Two warps take values in turn. Both wait for each phase, or (the bug) only for their own.
template <HopperBug kBug>
struct PhaseKernel {
  static constexpr int kThreads = 96;
  static constexpr arch::Requires kRequires{.min = 90};
  static constexpr int kRounds = 6;
  struct Params {
    uint32_t* dst;  // [kRounds]: 1, 2, ...
  };
  struct SharedStorage {
    uint64_t full, empty;
    uint32_t value;
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    constexpr bool kInTurn =
        kBug == HopperBug::kTakesEveryOtherPhase || kBug == HopperBug::kPassesPhases;
    const uint32_t full = t.SharedAddress(&shared.full), empty = t.SharedAddress(&shared.empty);
    if (t.tid() == 0) {
      t.MbarInit(full, 1);
      t.MbarInit(empty, kInTurn ? 1 : 2);
    }
    t.SyncThreads();
    if (t.lane() != 0) return;
    for (int round = 0; round < kRounds; ++round) {
      const bool mine = t.warp() == 1 + round % 2;
      if (t.warp() == 0) {
        t.MbarWait(empty, round % 2 ^ 1);
        t.StoreShared(&shared.value, static_cast<uint32_t>(round + 1));
        t.MbarArrive(full);
      } else if (mine || !kInTurn) {
        t.MbarWait(full, round % 2);
        if (mine) p.dst[round] = t.LoadShared(&shared.value);
        t.MbarArrive(empty);
      } else if (kBug == HopperBug::kPassesPhases) {
        t.MbarPassed(full);  // which nothing makes sure of
      }
    }
  }
};

// One link of a chain of dependent launches.
template <HopperBug kBug>
struct LinkKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    const uint32_t* src;    // 32
    const uint32_t* table;  // 32, constant
    uint32_t* dst;          // 32: sums
  };
  struct SharedStorage {};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t addend = t.LoadGlobal(p.table + t.tid());
    if constexpr (kBug != HopperBug::kMissingDependencyWait) t.WaitForEarlierGrids();
    const uint32_t* src = p.src + t.tid();
    t.StoreGlobal(p.dst + t.tid(),
                  addend + (kBug == HopperBug::kReadOnlyLoad ? t.LoadGlobal(src)
                                                             : t.LoadGlobalCoherent(src)));
  }
};

// Blocks of a cluster that read from their neighbours.
template <HopperBug kBug>
struct PeerKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    uint32_t* dst;  // [block][32]: the right neighbour's rank + lane
  };
  struct SharedStorage {
    uint32_t value[32];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const int rank = t.cluster_rank();
    t.StoreShared(&shared.value[t.lane()], static_cast<uint32_t>(rank + t.lane()));
    if constexpr (kBug != HopperBug::kMissingFirstClusterSync) t.ClusterSync();
    const uint32_t theirs =
        t.MapToRank(t.SharedAddress(&shared.value[t.lane()]), (rank + 1) % t.cluster_size());
    p.dst[t.block_x() * 32 + t.lane()] = t.template LoadRemote<uint32_t>(theirs);
    if constexpr (kBug != HopperBug::kMissingLastClusterSync) t.ClusterSync();
  }
};

// Blocks of a cluster that send to their neighbours, round after round, into one place.
template <HopperBug kBug>
struct SendingKernel {
  static constexpr int kThreads = 32, kRounds = 4;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    uint32_t*
        dst;  // [block][32]: the sum over the rounds of (the left neighbour's rank, lane, round)
  };
  struct alignas(16) Packet {
    uint32_t word[4];
  };
  struct SharedStorage {
    Packet packet[32];
    uint64_t full, empty;
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const int rank = t.cluster_rank(), size = t.cluster_size();
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    const uint32_t full = t.SharedAddress(&shared.full), empty = t.SharedAddress(&shared.empty);
    const uint32_t packet = t.SharedAddress(&shared.packet[t.lane()]);
    if (t.tid() == 0) {
      t.MbarInit(full, 1);
      t.MbarInit(empty, 1);
      t.FenceMbarInit();
    }
    t.ClusterSync();
    uint32_t sum = 0;
    for (int round = 0; round < kRounds; ++round) {
      if (t.tid() == 0) t.MbarArriveTx(full, sizeof(shared.packet));
      if (kBug != HopperBug::kMissingWaitBeforeSending && round > 0) {
        t.MbarWait(empty, (round - 1) & 1);
      }
      const auto value = static_cast<uint32_t>(rank + t.lane() * 100 + round * 10000);
      t.StoreRemoteAsync(t.MapToRank(packet, right), Packet{{value, 0, 0, 0}},
                         t.MapToRank(full, right));
      if constexpr (kBug != HopperBug::kMissingWaitForWhatIsSent) t.MbarWait(full, round & 1);
      sum += t.LoadShared(&shared.packet[t.lane()]).word[0];
      t.SyncWarp();
      if (round + 1 < kRounds && t.tid() == 0) t.MbarFreeRemote(t.MapToRank(empty, left));
    }
    p.dst[t.block_x() * 32 + t.lane()] = sum;
  }
};

// One bulk copy, and mistakes with its barrier.
template <HopperBug kBug>
struct BulkKernel {
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  struct Params {
    const uint32_t* src;  // 64, aligned to 16 bytes
    uint32_t* dst;        // 64
  };
  struct SharedStorage {
    alignas(16) uint32_t value[64];
    uint64_t bar;
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const uint32_t bar = t.SharedAddress(&shared.bar);
    if (t.tid() == 0) {
      t.MbarInit(bar, 1);
      t.FenceMbarInit();
      if constexpr (kBug == HopperBug::kBarrierOverwritten) {
        t.StoreShared(reinterpret_cast<uint32_t*>(&shared.bar) + 1, 5u);
      }
    }
    t.SyncThreads();
    if constexpr (kBug == HopperBug::kRegistersThatNobodyGives) {
      t.template SetMaxRegDec<240>();
      t.template SetMaxRegInc<256>();
    }
    if (t.tid() == 0) {
      t.MbarArriveTx(bar, 256);
      if constexpr (kBug == HopperBug::kTooManyArrivals) t.MbarArrive(bar);
      t.BulkLoad(t.SharedAddress(shared.value), p.src, 256, bar);
    }
    if constexpr (kBug == HopperBug::kCopyNobodyWaitsFor) return;
    t.MbarWait(bar, 0);
    if (t.tid() < 64) p.dst[t.tid()] = t.LoadShared(&shared.value[t.tid()]);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
