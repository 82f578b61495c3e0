// Kernels with a planted bug, each beside its correct twin (Bug::kNone), to test the checkers.
//
// Reports of the executor and of the sanitizers must name this file.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

enum class Bug {
  kNone,
  kMissingBarrier,
  kMissingWait,
  kWaitOffByOne,
  kWriteAfterRead,
  kOutOfBoundsCopy,
  kDivergentBarrier,
  kMissingSyncWarp,
  kShuffleAsFence,
  kSharedOverrun,
  kMisalignedAccess,
};

struct alignas(16) Vec4 {
  uint32_t word[4];
};

// The skeleton of a multistage mainloop: tiles travel to shared memory by asynchronous copies, two
// tiles ahead of the one that is summed up. Each thread reads what a thread of another warp copied.
template <Bug kBug>
struct PipelineKernel {
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 80};
  static constexpr int kStages = 3;

  struct Params {
    const Vec4* src;  // [tiles][kThreads]
    uint32_t* dst;    // [kThreads]: sums over the tiles
    int tiles;
  };
  struct SharedStorage {
    Vec4 stage[kStages][kThreads];
  };

  // The element that thread `tid` sums up, and what it makes of it.
  static constexpr int Partner(int tid) { return (tid + 37) % kThreads; }
  static constexpr uint32_t Digest(const Vec4& v) { return v.word[0] + 3 * v.word[3]; }

  WEFT_DEVICE void operator()(const Params& params, SharedStorage& shared, Thread t) const {
    const auto issue = [&](int tile) {
      const int past_the_end = kBug == Bug::kOutOfBoundsCopy ? 1 : 0;
      const Vec4* src = params.src + tile * kThreads + t.tid() + past_the_end;
      t.CpAsync(t.SharedAddress(&shared.stage[tile % kStages][t.tid()]), src);
    };
    for (int tile = 0; tile < kStages - 1; ++tile) {
      if (tile < params.tiles) issue(tile);
      t.CpAsyncCommit();
    }
    uint32_t sum = 0;
    for (int tile = 0; tile < params.tiles; ++tile) {
      if constexpr (kBug == Bug::kWaitOffByOne) {
        t.template CpAsyncWait<kStages - 1>();
      } else if constexpr (kBug != Bug::kMissingWait) {
        t.template CpAsyncWait<kStages - 2>();
      }
      if constexpr (kBug != Bug::kMissingBarrier && kBug != Bug::kWriteAfterRead) t.SyncThreads();
      const int ahead = tile + kStages - 1;
      if (ahead < params.tiles) issue(ahead);  // into the stage that was read before the barrier
      t.CpAsyncCommit();
      if constexpr (kBug == Bug::kWriteAfterRead) t.SyncThreads();
      sum += Digest(t.LoadShared(&shared.stage[tile % kStages][Partner(t.tid())]));
    }
    t.template CpAsyncWait<0>();
    params.dst[t.tid()] = sum;
  }
};

// Threads hand values to their neighbours in the warp through shared memory.
template <Bug kBug>
struct NeighbourKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};

  struct Params {
    uint32_t* dst;  // [kThreads]: dst[i] = 1000 + (i ^ 1)
  };
  struct SharedStorage {
    uint32_t value[kThreads];
  };

  WEFT_DEVICE void operator()(const Params& params, SharedStorage& shared, Thread t) const {
    shared.value[t.tid()] = 1000u + t.tid();
    if constexpr (kBug == Bug::kShuffleAsFence) {
      (void)t.Shfl(0u, 0);  // makes the lanes meet, but orders no memory
    } else if constexpr (kBug != Bug::kMissingSyncWarp) {
      t.SyncWarp();
    }
    params.dst[t.tid()] = shared.value[t.tid() ^ 1];
  }
};

// A barrier in a branch that only a part of a warp takes.
template <Bug kBug>
struct BranchKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr int kBarrierLine = __LINE__ + 11;

  struct Params {
    uint32_t* dst;  // [kThreads]: all ones
    int threads;    // that take the branch
  };
  struct SharedStorage {};

  WEFT_DEVICE void operator()(const Params& params, SharedStorage&, Thread t) const {
    if constexpr (kBug == Bug::kDivergentBarrier) {
      if (t.tid() < params.threads) {
        t.SyncThreads();
      }
    } else {
      t.SyncThreads();
    }
    params.dst[t.tid()] = 1;
  }
};

// Writes one element past the block's shared memory.
template <Bug kBug>
struct OverrunKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};

  struct Params {
    uint32_t* dst;  // [kThreads]: the thread's index
  };
  struct SharedStorage {
    uint32_t value[kThreads + 1];
  };

  WEFT_DEVICE void operator()(const Params& params, SharedStorage& shared, Thread t) const {
    uint32_t* first = shared.value + (kBug == Bug::kSharedOverrun ? 2 : 1);
    first[t.tid()] = t.tid();
    params.dst[t.tid()] = first[t.tid()];
  }
};

// A 16-byte load whose address is only aligned to four bytes.
template <Bug kBug>
struct MisalignedKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr int kLoadLine = __LINE__ + 14;

  struct Params {
    uint32_t* dst;  // [kThreads]: the first word of each vector
  };
  struct SharedStorage {
    Vec4 value[kThreads + 1];
  };

  WEFT_DEVICE void operator()(const Params& params, SharedStorage& shared, Thread t) const {
    shared.value[t.tid()] = {{uint32_t(t.tid()), 1, 2, 3}};
    const auto* bytes = reinterpret_cast<const char*>(&shared.value[t.tid()]);
    const auto* vector =
        reinterpret_cast<const Vec4*>(bytes + (kBug == Bug::kMisalignedAccess ? 4 : 0));
    params.dst[t.tid()] = t.LoadShared(vector).word[0];
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
