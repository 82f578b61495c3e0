// One small kernel for each primitive of arch::Thread: words in, words out. Those of tensor cores are
// in fragment_kernels.hpp.
//
// They contain no checks of their own, so that the same kernels can run on either back end and
// their outputs be compared, word for word, with a plain definition or with what a GPU gave.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

struct WordParams {
  const uint32_t* in;
  uint32_t* out;
};

struct alignas(16) Word4 {
  uint32_t w[4];
};
struct alignas(8) Word2 {
  uint32_t w[2];
};

struct NoShared {};

// out[block][thread] = x | y << 4 | z << 8 | lane << 12 | warp << 20 | (thread_count == 96) << 31.
struct IndexKernel {
  static constexpr int kThreads = 96;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    uint32_t* out;
    int grid_x;
    int grid_y;
  };
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const int block = (t.block_z() * p.grid_y + t.block_y()) * p.grid_x + t.block_x();
    p.out[block * kThreads + t.tid()] =
        static_cast<uint32_t>(t.block_x() | t.block_y() << 4 | t.block_z() << 8 | t.lane() << 12 |
                              t.warp() << 20) |
        (t.thread_count() == kThreads ? 1u << 31 : 0);
  }
};

// Reverses 128 words across the block; then warps 0 and 1 hand words to 2 and 3 by two named
// barriers, on which the former only arrive.
struct BarrierKernel {
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;  // in: 128; out: 128 reversed, then 64 handed over
  struct SharedStorage {
    uint32_t reversed[kThreads];
    uint32_t handed[kThreads / 2];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    shared.reversed[kThreads - 1 - t.tid()] = p.in[t.tid()];
    t.SyncThreads();
    p.out[t.tid()] = shared.reversed[t.tid()];
    if (t.warp() < 2) {
      shared.handed[t.tid()] = p.in[t.tid()] * 3;
      t.BarArrive(1 + t.warp(), 64);
    } else {
      t.BarSync(1 + (t.warp() - 2), 64);
      p.out[kThreads + t.tid() - 64] = shared.handed[t.tid() - 64];
    }
    t.BarSync(15, 128);
  }
};

// Shuffles of 32- and 64-bit types, whole and in two halves of the warp; ballots.
struct ExchangeKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr int kOutputs = 7;
  using Params = WordParams;  // in: 32; out: kOutputs x 32
  struct SharedStorage {
    uint32_t value[kThreads];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const int lane = t.lane();
    const uint32_t v = p.in[lane];
    p.out[0 * 32 + lane] = t.Shfl(v, (lane * 5 + 3) % 32);
    p.out[1 * 32 + lane] = t.ShflXor(v, 9);
    p.out[2 * 32 + lane] = static_cast<uint32_t>(t.Shfl(static_cast<float>(lane), 31 - lane));
    const uint64_t wide = static_cast<uint64_t>(v) << 32 | lane;
    p.out[3 * 32 + lane] = static_cast<uint32_t>(t.ShflXor(wide, 16) >> 16);
    p.out[4 * 32 + lane] = t.Ballot((v & 1) != 0);
    // The halves go their own ways.
    shared.value[lane] = v;
    if (lane < 16) {
      p.out[5 * 32 + lane] = t.Shfl(v, 15 - lane, 0x0000FFFFu);
      t.SyncWarp(0x0000FFFFu);
      p.out[6 * 32 + lane] = shared.value[15 - lane];
    } else {
      t.SyncWarp(0xFFFF0000u);
      p.out[6 * 32 + lane] = shared.value[47 - lane];
      p.out[5 * 32 + lane] = t.Ballot((v & 2) != 0, 0xFFFF0000u);
    }
  }
};

// Every size of asynchronous copy with every number of source bytes.
template <int kBytes>
struct CopyKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 80};
  using Params = WordParams;  // in: 32 x 4; out: 32 x 4, of which kBytes / 4 are written
  struct SharedStorage {
    Word4 value[kThreads];
  };

  // Lane l copies this many bytes.
  static constexpr int SourceBytes(int lane) { return lane % (kBytes + 1); }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    t.template CpAsync<kBytes>(t.SharedAddress(&shared.value[t.tid()]), p.in + 4 * t.tid(),
                               SourceBytes(t.lane()));
    t.CpAsyncCommit();
    t.template CpAsyncWait<0>();
    t.SyncThreads();
    const int other = kThreads - 1 - t.tid();
    for (int w = 0; w < kBytes / 4; ++w) p.out[4 * other + w] = shared.value[other].w[w];
  }
};

// in: 32 lanes x (2 of a, 4 of b); out: 32 lanes x 2 x 4 products of their low two bits, from what
// rounding a product of wider numbers loses and an fma keeps.
template <class T>
struct FmaKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  static constexpr T kOne = sizeof(T) == 4 ? T(1.0 + 0x1p-20) : T(1.0 + 0x1p-40);

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    T a[2], b[4], c[2][4];
    for (int i = 0; i < 2; ++i) a[i] = kOne * static_cast<T>(p.in[6 * t.lane() + i] % 4);
    for (int j = 0; j < 4; ++j) b[j] = kOne * static_cast<T>(p.in[6 * t.lane() + 2 + j] % 4);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) c[i][j] = -static_cast<T>(a[i] * b[j]);
    }
    t.FmaOuter(c, a, b);  // what the rounding of the products lost
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        const T scaled = c[i][j] * (sizeof(T) == 4 ? T(0x1p40) : T(0x1p80));
        p.out[(t.lane() * 2 + i) * 4 + j] = static_cast<uint32_t>(static_cast<int32_t>(scaled));
      }
    }
  }
};

// Words to shared addresses, one, two and four at a time, with their bytes permuted.
struct StoreAtKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;  // in: 32 x 8; out: 32 x 8
  struct SharedStorage {
    Word4 value[kThreads][2];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    uint32_t w[8];
    for (int i = 0; i < 8; ++i) w[i] = p.in[8 * t.tid() + i];
    const uint32_t address = t.SharedAddress(shared.value[t.tid()]);
    t.StoreSharedAt(address, Word4{{w[0], w[1], w[2], w[3]}});
    t.StoreSharedAt(address + 16, Word2{{w[4], w[5]}});
    t.StoreSharedAt(address + 24, t.BytePermute(w[6], w[7], 0x7351));
    t.StoreSharedAt(address + 28, t.BytePermute(w[6], w[7], 0x0426));
    t.SyncThreads();
    const int other = kThreads - 1 - t.tid();
    for (int i = 0; i < 8; ++i) p.out[8 * other + i] = shared.value[other][i / 4].w[i % 4];
  }
};

// in: 32 lanes x 4, the bits of floats; out: 32 words of 4 bytes of type T.
template <class T, bool kRelu = false>
struct PackKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  // Half-way cases, values about the ends of both ranges, what is no number, and any other.
  static constexpr uint32_t Input(int, uint32_t noise) {
    constexpr uint32_t kSpecial[] = {0x7FC00000, 0x7F800000, 0xFF800000, 0xFFC12345,
                                     0x80000000, 0x42FF0000, 0x42FEFFFF, 0xC3008000,
                                     0x437F8000, 0x437E8000, 0x4F000000, 0xCF000001,
                                     0x3EFFFFFF, 0x3F000000, 0x3F000001, 0xBF000000};
    const int small = static_cast<int>(noise >> 4 & 1023) - 512;
    switch (noise & 7) {
      case 0:
      case 3:
      case 6:
        return std::bit_cast<uint32_t>(0.5f * static_cast<float>(small));
      case 1:
      case 4:
        return std::bit_cast<uint32_t>(0.03125f * static_cast<float>(small * 11));
      case 2:
        return kSpecial[noise >> 28];
      case 5:
        return (noise & 0x807FFFFFu) | (126 + (noise >> 23 & 7)) << 23;  // 0.5 to 128
      default:
        return noise;
    }
  }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    float v[4];
    std::memcpy(v, p.in + 4 * t.lane(), sizeof(v));
    if constexpr (kRelu) {
      for (float& x : v) x = x > 0.0f ? x : 0.0f;
    }
    p.out[t.lane()] = Thread::template PackSaturated<T>(v);
  }
};

// Numbers that all threads lower and raise: out[0] by numbers above where it is, out[1] by those
// below; out[2] and out[3] likewise. Then kSteps steps, whose first i out[4 + i] takes. To what follows
// those each thread adds its word.
// in: a word for each thread of the grid.
struct RangeKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;
  static constexpr int kSteps = 12;

  static constexpr float Above(uint32_t noise) { return static_cast<float>(noise % 9000) - 7.0f; }
  static constexpr float Below(uint32_t noise) { return -9.0f - static_cast<float>(noise % 9000); }

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    float* out = reinterpret_cast<float*>(p.out);
    const uint32_t noise = p.in[t.block_x() * kThreads + t.tid()];
    t.LowerGlobal(out + 0, Above(noise));
    t.LowerGlobal(out + 1, Below(noise));
    t.RaiseGlobal(out + 2, Above(noise));
    t.RaiseGlobal(out + 3, Below(noise));
    t.AddGlobal(reinterpret_cast<int32_t*>(p.out) + 5 + kSteps, static_cast<int32_t>(noise));
    if (t.block_x() != 0 || t.tid() > kSteps) return;
    const float nan = std::bit_cast<float>(0x7fc00000u);
    const float steps[kSteps] = {50.0f, 20.0f, -0.0f, -3.0f, -2.0f, -1e30f,
                                 -9.0f, -0.0f, 0.5f,  nan,   nan,   1e-40f};
    const uint32_t down = 0b1010'0011'1110;  // bit i: step i lowers
    float* const own = out + 4 + t.tid();
    for (int i = 0; i < t.tid(); ++i) {
      if (down >> i & 1) {
        t.LowerGlobal(own, steps[i]);
      } else {
        t.RaiseGlobal(own, steps[i]);
      }
    }
  }
};

// Each block copies its words and counts itself in; the one that is counted last adds up the words of all blocks.
// in: a word for each thread of the grid; out: the same words, then the counter, which starts from p.start, then the sum.
struct LastBlockKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    const uint32_t* in;
    uint32_t* out;
    int32_t start;
  };
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const int words = t.grid_x() * kThreads, own = t.block_x() * kThreads + t.tid();
    t.StoreGlobal(p.out + own, p.in[own]);
    t.SyncThreads();
    if (t.tid() != 0) return;
    const int32_t before = t.FetchAddGlobal(reinterpret_cast<int32_t*>(p.out) + words, 1);
    if (before - p.start != t.grid_x() - 1) return;
    uint32_t sum = 0;
    for (int i = 0; i < words; ++i) sum += t.LoadGlobalCoherent(p.out + i);
    p.out[words + 1] = sum;
  }
};

// in: 32 lanes x (kM of a, kN of b); out: 32 lanes x kM x kN, starting from c = element's index.
template <int kM, int kN, bool kUnsignedA>
struct DotKernel {
  static constexpr int kThreads = 32;
  static constexpr arch::Requires kRequires{.min = 75};
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + (kM + kN) * t.lane();
    uint32_t a[kM];
    uint32_t b[kN];
    int32_t c[kM][kN];
    WEFT_UNROLL
    for (int i = 0; i < kM; ++i) a[i] = in[i];
    WEFT_UNROLL
    for (int j = 0; j < kN; ++j) b[j] = in[kM + j];
    WEFT_UNROLL
    for (int i = 0; i < kM; ++i) {
      WEFT_UNROLL
      for (int j = 0; j < kN; ++j) c[i][j] = i * kN + j;
    }
    t.template Dp4aOuter<kUnsignedA>(c, a, b);
    c[0][0] = kUnsignedA ? Thread::Dp4aU8S8(a[kM - 1], b[kN - 1], c[0][0])
                         : Thread::Dp4a(a[kM - 1], b[kN - 1], c[0][0]);
    WEFT_UNROLL
    for (int i = 0; i < kM; ++i) {
      WEFT_UNROLL
      for (int j = 0; j < kN; ++j) {
        p.out[(t.lane() * kM + i) * kN + j] = static_cast<uint32_t>(c[i][j]);
      }
    }
  }
};

// Moves elements of one size: global -> shared -> another thread -> global, odd threads predicated
// off and storing zeros.
template <class T>
struct MemoryKernel {
  static constexpr int kThreads = 64;
  static constexpr arch::Requires kRequires{.min = 75};
  struct Params {
    const T* in;  // kThreads, read through both kinds of load
    T* out;       // kThreads sent through LoadGlobalOr0, then kThreads through the other loads
  };
  struct SharedStorage {
    T value[2][kThreads];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, Thread t) const {
    const bool even = t.tid() % 2 == 0;
    t.StoreShared(&shared.value[0][t.tid()],
                  t.LoadGlobalOr0(even ? p.in + t.tid() : nullptr, even));
    t.StoreShared(&shared.value[1][t.tid()], t.warp() == 0 ? t.LoadGlobal(p.in + t.tid())
                                                           : t.LoadGlobalCoherent(p.in + t.tid()));
    t.SyncThreads();
    const int other = kThreads - 1 - t.tid();
    t.StoreGlobal(p.out + other, t.LoadShared(&shared.value[0][other]));
    t.StoreGlobal(p.out + kThreads + other, t.LoadShared(&shared.value[1][other]));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
