// Kernels that make random tensors and compare tensors, and one that keeps dp4a busy: what a
// measurement needs besides the operator it measures. Both back ends.
#pragma once

#include <cstdint>

#include "perf/support/random.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::perf {

// Differences between two tensors.
struct alignas(8) Differences {
  std::int32_t count = 0;
  std::int32_t largest = 0;  // absolute
};

inline constexpr int kDataThreads = 256;  // of a block, here and in format_kernels.hpp
inline constexpr int kDp4aChains = 8, kDp4aUnroll = 16;

struct FillPlanarParams {
  std::int8_t* dst = nullptr;
  std::int64_t count = 0;
  std::uint64_t seed = 0;
  int blocks = 0;
};

// Each thread writes what it found to parts[global thread index].
struct CompareParams {
  const std::int8_t* got = nullptr;
  const std::int8_t* want = nullptr;
  std::int64_t count = 0;
  Differences* parts = nullptr;
  int blocks = 0;
};

// 16-byte aligned; `reads` packets of 16 bytes of src, `writes` of dst. What is not read is written as zeros.
struct CopyParams {
  const void* src = nullptr;
  void* dst = nullptr;
  std::int64_t reads = 0, writes = 0;
  int blocks = 0;
};

struct Dp4aParams {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  int rounds = 0;
  std::int32_t* sink = nullptr;  // one value a thread
};

inline namespace WEFT_BACKEND {

// Kernels here have one-dimensional grids and cover their range with a stride of the whole grid.
struct DataKernel {
  struct SharedStorage {};
  static constexpr int kThreads = kDataThreads;
  static constexpr arch::Requires kRequires{.min = 75};

  WEFT_DEVICE static std::int64_t First(arch::Thread t) {
    return static_cast<std::int64_t>(t.block_x()) * kThreads + t.tid();
  }
};

// dst[i] = RandomInt8(seed, i).
struct FillPlanarKernel : DataKernel {
  using Params = FillPlanarParams;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    for (std::int64_t i = First(t); i < p.count; i += std::int64_t{p.blocks} * kThreads) {
      t.StoreGlobal(p.dst + i, RandomInt8(p.seed, i));
    }
  }
};

// Compares `count` elements.
struct CompareKernel : DataKernel {
  using Params = CompareParams;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    Differences found;
    for (std::int64_t i = First(t); i < p.count; i += std::int64_t{p.blocks} * kThreads) {
      const int got = t.LoadGlobal(p.got + i);
      const int want = t.LoadGlobal(p.want + i);
      const int distance = got > want ? got - want : want - got;
      found.count += distance != 0;
      found.largest = distance > found.largest ? distance : found.largest;
    }
    t.StoreGlobal(p.parts + First(t), found);
  }
};

// The least that a layer has to do: its source's bytes come, its destination's go. Launched dependently, as
// the layers are.
struct CopyKernel : DataKernel {
  using Params = CopyParams;
  static constexpr int kAtOnce = 4;  // loads of a thread
  struct alignas(16) Packet {
    std::uint32_t word[4];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    t.WaitForEarlierGrids();
    t.LetLaterGridsStart();
    const auto* const src = static_cast<const Packet*>(p.src);
    auto* const dst = static_cast<Packet*>(p.dst);
    const std::int64_t stride = std::int64_t{p.blocks} * kThreads;
    const std::int64_t most = p.reads > p.writes ? p.reads : p.writes;
    std::uint32_t rest = 0;
    for (std::int64_t first = First(t); first < most; first += kAtOnce * stride) {
      Packet packet[kAtOnce];
      WEFT_UNROLL
      for (int e = 0; e < kAtOnce; ++e) {
        const std::int64_t i = first + e * stride;
        packet[e] = t.LoadGlobalCoherentOr0(src + i, i < p.reads);
      }
      WEFT_UNROLL
      for (int e = 0; e < kAtOnce; ++e) {
        const std::int64_t i = first + e * stride;
        if (i < p.writes) {
          t.StoreGlobal(dst + i, packet[e]);
        } else {
          WEFT_UNROLL
          for (const std::uint32_t word : packet[e].word) rest |= word;
        }
      }
    }
    // ptxas drops loads that nobody uses. No OR of many random words has one bit.
    if (rest == 1) t.StoreGlobal(dst, Packet{});
  }
};

// kUnroll * rounds dp4a in each of kChains independent chains.
struct Dp4aKernel : DataKernel {
  using Params = Dp4aParams;
  static constexpr int kChains = kDp4aChains, kUnroll = kDp4aUnroll;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    std::int32_t acc[kChains];
    WEFT_UNROLL
    for (int i = 0; i < kChains; ++i) acc[i] = t.tid() + i;
    WEFT_NO_UNROLL
    for (int round = 0; round < p.rounds; ++round) {
      WEFT_UNROLL
      for (int j = 0; j < kUnroll; ++j) {
        WEFT_UNROLL
        for (int i = 0; i < kChains; ++i) acc[i] = t.Dp4a(p.a, p.b + t.tid(), acc[i]);
      }
    }
    std::int32_t sum = 0;
    WEFT_UNROLL
    for (int i = 0; i < kChains; ++i) sum += acc[i];
    t.StoreGlobal(p.sink + First(t), sum);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::perf
