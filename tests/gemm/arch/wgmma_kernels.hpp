// Warpgroup products of operands anywhere in shared memory, to run on either back end.
#pragma once

#include <cstdint>

#include "tests/gemm/arch/primitive_kernels.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

struct WgmmaParams {
  const uint32_t* arena;  // what shared memory holds: `words` of it
  uint32_t* out;          // [128][N / 2]: the registers of each thread
  uint32_t words;
  uint32_t start_a, start_b;  // bytes from the arena's start
  uint32_t step_a, step_b;    // bytes from one product to the next
  WgmmaLayout a, b;
  uint32_t products;  // made one after the other, onto sums that begin with a number of each thread
  uint32_t from_zero;  // the first product starts anew instead
};

// kTrans: bit 0 for a, bit 1 for b MN-major.
template <WgmmaType kType, int N, int kTrans = 0>
struct WgmmaKernel {
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 90, .exact = true};
  static constexpr int kArenaWords = 14336;
  using Params = WgmmaParams;
  using Sum = std::conditional_t<IsBytes(kType), int32_t, float>;
  struct SharedStorage {
    alignas(1024) uint32_t arena[kArenaWords];
  };

  // The sums before the first product, small integers.
  static constexpr int Before(int tid, int r) { return (tid * 37 + r * 11) % 97 - 48; }

  WEFT_DEVICE static void Multiply(Thread t, Sum (&d)[N / 2], uint64_t a, uint64_t b,
                                   bool accumulate) {
    constexpr bool kA = (kTrans & 1) != 0, kB = (kTrans & 2) != 0;
    if constexpr (kType == WgmmaType::kS8) {
      t.template WgmmaS8<N>(d, a, b, accumulate);
    } else if constexpr (kType == WgmmaType::kS8U8) {
      t.template WgmmaS8U8<N>(d, a, b, accumulate);
    } else if constexpr (kType == WgmmaType::kF16) {
      t.template WgmmaF16<N, kA, kB>(d, a, b, accumulate);
    } else if constexpr (kType == WgmmaType::kBf16) {
      t.template WgmmaBf16<N, kA, kB>(d, a, b, accumulate);
    } else if constexpr (kType == WgmmaType::kTf32) {
      t.template WgmmaTf32<N>(d, a, b, accumulate);
    } else if constexpr (kType == WgmmaType::kE4m3) {
      t.template WgmmaE4m3<N>(d, a, b, accumulate);
    } else {
      t.template WgmmaE5m2<N>(d, a, b, accumulate);
    }
  }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int i = t.tid(); i < static_cast<int>(p.words); i += kThreads) {
      t.StoreShared(&shared.arena[i], p.arena[i]);
    }
    t.FenceProxyAsync();
    t.SyncThreads();
    Sum d[N / 2];
    WEFT_UNROLL
    for (int r = 0; r < N / 2; ++r) d[r] = static_cast<Sum>(Before(t.tid(), r));
    const uint32_t arena = t.SharedAddress(shared.arena);
    uint64_t a = WgmmaDescriptor(arena + p.start_a, p.a);
    uint64_t b = WgmmaDescriptor(arena + p.start_b, p.b);
    t.KeepInPlace(d);
    t.WgmmaFence();
    WEFT_NO_UNROLL
    for (uint32_t i = 0; i < p.products; ++i) {
      Multiply(t, d, a, b, i > 0 || p.from_zero == 0);
      a += p.step_a / 16;
      b += p.step_b / 16;
    }
    t.WgmmaCommit();
    t.template WgmmaWait<0>();
    t.KeepInPlace(d);
    WEFT_UNROLL
    for (int r = 0; r < N / 2; ++r) {
      p.out[t.tid() * (N / 2) + r] = static_cast<uint32_t>(static_cast<int32_t>(d[r]));
    }
  }
};

// The same with a in registers, which each lane loads from where they lie.
template <WgmmaType kType, int N, int kTrans = 0>
struct WgmmaRsKernel : WgmmaKernel<kType, N, kTrans> {
  using Base = WgmmaKernel<kType, N, kTrans>;
  using typename Base::Params;
  using typename Base::SharedStorage;
  using typename Base::Sum;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    for (int i = t.tid(); i < static_cast<int>(p.words); i += 128) {
      t.StoreShared(&shared.arena[i], p.arena[i]);
    }
    t.FenceProxyAsync();
    t.SyncThreads();
    Sum d[N / 2];
    WEFT_UNROLL
    for (int r = 0; r < N / 2; ++r) d[r] = static_cast<Sum>(Base::Before(t.tid(), r));
    WEFT_NO_UNROLL
    for (uint32_t i = 0; i < p.products; ++i) {
      uint32_t a[4];
      WEFT_UNROLL
      for (int r = 0; r < 4; ++r) {
        const int row = t.warp() * 16 + r % 2 * 8 + t.lane() / 4;
        const int byte = t.lane() % 4 * 4 + r / 2 * 16;
        a[r] = t.LoadShared(
            &shared.arena[WgmmaKMajorAddress(p.start_a + i * p.step_a, p.a, row, byte) / 4]);
      }
      const uint64_t b =
          WgmmaDescriptor(t.SharedAddress(shared.arena) + p.start_b + i * p.step_b, p.b);
      const bool accumulate = i > 0 || p.from_zero == 0;
      t.KeepInPlace(d);
      t.KeepInPlace(a);
      t.WgmmaFence();
      if constexpr (kType == WgmmaType::kS8) {
        t.template WgmmaS8<N>(d, a, b, accumulate);
      } else if constexpr (kType == WgmmaType::kS8U8) {
        t.template WgmmaS8U8<N>(d, a, b, accumulate);
      } else if constexpr (kType == WgmmaType::kTf32) {
        t.template WgmmaTf32<N>(d, a, b, accumulate);
      } else if constexpr (kType == WgmmaType::kF16) {
        t.template WgmmaF16<N, kTrans == 2>(d, a, b, accumulate);
      } else {
        t.template WgmmaBf16<N, kTrans == 2>(d, a, b, accumulate);
      }
      t.WgmmaCommit();
      t.template WgmmaWait<0>();
      t.KeepInPlace(d);
      t.KeepInPlace(a);
    }
    WEFT_UNROLL
    for (int r = 0; r < N / 2; ++r) {
      p.out[t.tid() * (N / 2) + r] = static_cast<uint32_t>(static_cast<int32_t>(d[r]));
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
