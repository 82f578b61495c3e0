// One small kernel for each primitive of sm_90, to run on either back end: mbarriers, TMA,
// matrix stores, clusters, registers. Products are in wgmma_kernels.hpp.
#pragma once

#include <cstdint>

#include "tests/gemm/arch/primitive_kernels.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

// A copy into shared memory that holds a pattern before; out: all of it after.
constexpr int kCopyWords = 8192;

struct CopyParams {
  TensorMap map;
  int32_t coord[5];
  uint16_t offset[3];
  uint32_t target;     // from the start of the shared memory, in bytes
  uint32_t bytes;      // what the copy loads
  const void* source;  // of a bulk copy
  uint32_t* out;       // kCopyWords
};

enum class CopyKind { kBulk, kTiled, kIm2col };

template <CopyKind kKind, int kRank>
struct TmaCopyKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 90};
  using Params = CopyParams;
  struct SharedStorage {
    alignas(1024) uint32_t word[kCopyWords];
    uint64_t bar;
  };

  static constexpr uint32_t Before(int i) { return 0xB0000000u + i; }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const uint32_t bar = t.SharedAddress(&shared.bar);
    for (int i = t.tid(); i < kCopyWords; i += kThreads) t.StoreShared(&shared.word[i], Before(i));
    t.FenceProxyAsync();
    if (t.tid() == 0) {
      t.MbarInit(bar, 1);
      t.FenceMbarInit();
    }
    t.SyncThreads();
    if (t.tid() == 0) {
      const uint32_t target = t.SharedAddress(shared.word) + p.target;
      t.MbarArriveTx(bar, static_cast<int>(p.bytes));
      if constexpr (kKind == CopyKind::kBulk) {
        t.BulkLoad(target, p.source, p.bytes, bar);
      } else {
        int32_t coord[kRank];
        for (int i = 0; i < kRank; ++i) coord[i] = p.coord[i];
        if constexpr (kKind == CopyKind::kTiled) {
          t.TmaLoad(target, p.map, bar, coord);
        } else {
          uint16_t offset[kRank - 2];
          for (int i = 0; i < kRank - 2; ++i) offset[i] = p.offset[i];
          t.TmaLoadIm2col(target, p.map, bar, coord, offset);
        }
      }
    }
    t.MbarWait(bar, 0);
    for (int i = t.tid(); i < kCopyWords; i += kThreads) p.out[i] = t.LoadShared(&shared.word[i]);
  }
};

// Warp 0 hands 32 words a round to warp 1 through two slots with a full and an empty barrier each.
struct MbarRingKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 90};
  static constexpr int kRounds = 7, kSlots = 2;
  using Params = WordParams;  // in: kRounds x 32; out: the same, times 5
  struct SharedStorage {
    uint64_t full[kSlots], empty[kSlots];
    uint32_t slot[kSlots][32];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const uint32_t full = t.SharedAddress(shared.full), empty = t.SharedAddress(shared.empty);
    if (t.tid() == 0) {
      for (int i = 0; i < kSlots; ++i) {
        t.MbarInit(full + 8 * i, 32);
        t.MbarInit(empty + 8 * i, 1);
      }
      t.FenceMbarInit();
    }
    t.SyncThreads();
    for (int round = 0; round < kRounds; ++round) {
      const int slot = round % kSlots, parity = round / kSlots % 2;
      uint32_t* place = &shared.slot[slot][t.lane()];
      if (t.warp() == 0) {
        t.MbarWait(empty + 8 * slot, parity ^ 1);
        t.StoreShared(place, p.in[32 * round + t.lane()] * 5);
        t.MbarArrive(full + 8 * slot);
      } else {
        t.MbarWait(full + 8 * slot, parity);
        p.out[32 * round + t.lane()] = t.LoadShared(place);
        t.SyncWarp();
        if (t.ElectOne()) t.MbarArrive(empty + 8 * slot);
      }
    }
  }
};

// cp.async of one warp that arrive at a barrier for another.
struct CpAsyncArriveKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 90};
  using Params = WordParams;  // in: 32 x 4; out: 32 x 4
  struct SharedStorage {
    Word4 value[32];
    uint64_t bar;
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const uint32_t bar = t.SharedAddress(&shared.bar);
    if (t.tid() == 0) t.MbarInit(bar, 32);
    t.SyncThreads();
    if (t.warp() == 0) {
      t.CpAsync(t.SharedAddress(&shared.value[t.lane()]), p.in + 4 * t.lane());
      t.CpAsyncMbarArrive(bar);
    } else {
      t.MbarWait(bar, 0);
      const Word4 v = t.LoadShared(&shared.value[31 - t.lane()]);
      for (int w = 0; w < 4; ++w) p.out[4 * t.lane() + w] = v.w[w];
    }
    t.template CpAsyncWait<0>();
  }
};

// Stores kMatrices matrices, each row at a place of its own, and loads them transposed or not.
template <int kMatrices, bool kTransStore, bool kTransLoad>
struct StMatrixKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 90};
  using Params = WordParams;  // in: 32 x 4 registers; out: 32 rows x 4, then 32 x kMatrices
  struct SharedStorage {
    Word4 row[32];
  };

  static constexpr int Row(int lane) { return (lane * 7 + 3) % 32; }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int w = 0; w < 4; ++w) t.StoreShared(&shared.row[t.lane()].w[w], 0u);
    t.SyncWarp();
    uint32_t r[kMatrices];
    for (int i = 0; i < kMatrices; ++i) r[i] = p.in[4 * t.lane() + i];
    const uint32_t address = t.SharedAddress(&shared.row[Row(t.lane())]);
    if constexpr (kTransStore) {
      t.StMatrixTrans(address, r);
    } else {
      t.StMatrix(address, r);
    }
    t.SyncWarp();
    for (int w = 0; w < 4; ++w) p.out[4 * t.lane() + w] = t.LoadShared(&shared.row[t.lane()].w[w]);
    if constexpr (kTransLoad) {
      t.LdMatrixTrans(r, address);
    } else if constexpr (kMatrices == 1) {
      t.LdMatrixX1(r, address);
    } else if constexpr (kMatrices == 2) {
      t.LdMatrixX2(r, address);
    } else {
      t.LdMatrixX4(r, address);
    }
    for (int i = 0; i < kMatrices; ++i) p.out[128 + t.lane() * kMatrices + i] = r[i];
  }
};

// Every block of a cluster stores words to its right neighbour, arrives there, and reads from its
// left one.
struct ClusterKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    uint32_t* out;  // [block][lane][4]: sent by the left one (2 words), read from it, rank and size
  };
  struct SharedStorage {
    Word4 own[32];
    Word2 sent[32];
    uint64_t bar;
  };

  static constexpr uint32_t Own(int rank, int lane) { return 1000u * (rank + 1) + lane; }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const int rank = t.cluster_rank(), size = t.cluster_size(), lane = t.lane();
    const uint32_t bar = t.SharedAddress(&shared.bar);
    t.StoreShared(&shared.own[lane], Word4{{Own(rank, lane), 1, 2, 3}});
    if (t.tid() == 0) {
      t.MbarInit(bar, 32);
      t.FenceMbarInit();
    }
    t.ClusterSync();
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    t.StoreRemote(t.MapToRank(t.SharedAddress(&shared.sent[lane]), right),
                  Word2{{Own(rank, lane) * 3, Own(rank, lane) * 7}});
    t.MbarArriveRemote(t.MapToRank(bar, right));
    t.MbarWait(bar, 0);
    const Word2 sent = t.LoadShared(&shared.sent[lane]);
    const Word4 read =
        t.template LoadRemote<Word4>(t.MapToRank(t.SharedAddress(&shared.own[lane]), left));
    uint32_t* out = p.out + (t.block_x() * 32 + lane) * 4;
    out[0] = sent.w[0];
    out[1] = sent.w[1];
    out[2] = read.w[0] + read.w[3];
    out[3] = static_cast<uint32_t>(rank * 16 + size);
    t.ClusterSync();  // nobody leaves while others read
  }
};

// Every block of a cluster sends words to its right neighbour by TMA.
struct PeerCopyKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    uint32_t* out;  // [block][lane][4]: the left one's
  };
  struct SharedStorage {
    Word4 own[32], sent[32];
    uint64_t bar;
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const int rank = t.cluster_rank(), lane = t.lane();
    const uint32_t own = static_cast<uint32_t>(100 * rank + lane);
    const uint32_t bar = t.SharedAddress(&shared.bar);
    t.StoreShared(&shared.own[lane], Word4{{own, own * 3, own * 5, own * 7}});
    t.FenceProxyAsync();
    if (t.tid() == 0) {
      t.MbarInit(bar, 1);
      t.FenceMbarInit();
      t.MbarArriveTx(bar, sizeof(shared.sent));
    }
    t.ClusterSync();
    const int right = (rank + 1) % t.cluster_size();
    if (t.tid() == 0) {
      t.BulkCopyRemote(t.MapToRank(t.SharedAddress(shared.sent), right),
                       t.SharedAddress(shared.own), sizeof(shared.own), t.MapToRank(bar, right));
    }
    t.MbarWait(bar, 0);
    const Word4 sent = t.LoadShared(&shared.sent[lane]);
    for (int w = 0; w < 4; ++w) p.out[(t.block_x() * 32 + lane) * 4 + w] = sent.w[w];
    t.ClusterSync();
  }
};

// Every block of a cluster sends words from registers to all others, and returns as soon as it has
// theirs.
struct SendKernel {
  static constexpr int kThreads = 32, kRanks = 4;
  static constexpr arch::Requires kRequires{.min = 90};
  struct Params {
    uint32_t* out;  // [block][lane][4]: the sums of the others'
  };
  struct SharedStorage {
    Word4 received[kRanks][32];
    uint64_t bar;
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const int rank = t.cluster_rank(), lane = t.lane();
    const uint32_t bar = t.SharedAddress(&shared.bar);
    if (t.tid() == 0) {
      t.MbarInit(bar, 1);
      t.FenceMbarInit();
      t.MbarArriveTx(bar, (kRanks - 1) * 32 * 16);
    }
    t.ClusterArriveRelaxed();
    t.ClusterWait();
    const uint32_t own = static_cast<uint32_t>(100 * rank + lane);
    for (int q = 1; q < kRanks; ++q) {
      t.StoreRemoteAsync(t.MapToRank(t.SharedAddress(&shared.received[q][lane]), rank ^ q),
                         Word4{{own, own * 3, own * 5, own * 7}}, t.MapToRank(bar, rank ^ q));
    }
    t.MbarWait(bar, 0);
    uint32_t sum[4] = {};
    for (int q = 1; q < kRanks; ++q) {
      const Word4 sent = t.LoadShared(&shared.received[q][lane]);
      for (int w = 0; w < 4; ++w) sum[w] += sent.w[w];
    }
    for (int w = 0; w < 4; ++w) p.out[(t.block_x() * 32 + lane) * 4 + w] = sum[w];
  }
};

// One link of a chain of dependent launches: dst[i] = src[i] + table[i].
struct DependentKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    const uint32_t* src;
    const uint32_t* table;  // nobody writes it: read before the wait
    uint32_t* dst;
  };
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    t.LetLaterGridsStart();
    const int i = t.block_x() * kThreads + t.tid();
    const uint32_t addend = t.LoadGlobal(p.table + i);
    t.WaitForEarlierGrids();
    t.StoreGlobal(p.dst + i, t.LoadGlobalCoherent(p.src + i) + addend);
  }
};

// A warpgroup gives registers up, two take them; one elected lane of each warp writes.
struct RegistersKernel {
  static constexpr int kThreads = 384;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  using Params = WordParams;  // in: 12; out: 12, doubled
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    if (t.warp() < 4) {
      t.template SetMaxRegDec<40>();
    } else {
      t.template SetMaxRegInc<232>();
    }
    const int warp = t.WarpUniform(t.warp());
    if (t.ElectOne()) p.out[warp] = 2 * p.in[warp];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
