// Kernels that make random tensors and compare tensors, and one that keeps dp4a busy: what a
// measurement needs besides the operator it measures. Both back ends.
#pragma once

#include <cstdint>

#include "perf/support/random.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

// Differences between two tensors.
struct alignas(8) Differences {
  std::int32_t count = 0;
  std::int32_t largest = 0;  // absolute
};

struct FillPlanarParams {
  std::int8_t* dst = nullptr;
  std::int64_t count = 0;
  std::uint64_t seed = 0;
  int blocks = 0;
};

// As FillPlanar of an NCHW tensor, but stored in NCxHWx<4>.
struct FillBlockedParams {
  std::int8_t* dst = nullptr;
  TensorExtents extents;
  std::uint64_t seed = 0;
  int blocks = 0;
};

// Each thread writes what it found to parts[global thread index].
struct CompareParams {
  const std::int8_t* got = nullptr;
  const std::int8_t* want = nullptr;
  TensorExtents extents;
  Differences* parts = nullptr;
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
  static constexpr int kThreads = 256;
  static constexpr int kMinComputeCapability = 75;

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

struct FillBlockedKernel : DataKernel {
  using Params = FillBlockedParams;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const std::int64_t plane = p.extents.h * p.extents.w;
    const std::int64_t words = NCxHWx<4>::Size(p.extents) / 4;
    const std::int64_t image_words = NCxHWx<4>::ImageStride(p.extents) / 4;
    for (std::int64_t i = First(t); i < words; i += std::int64_t{p.blocks} * kThreads) {
      const std::int64_t n = i / image_words;
      const std::int64_t c4 = i % image_words / plane;
      const std::int64_t pixel = i % plane;
      std::uint32_t word = 0;
      for (int j = 0; j < 4; ++j) {
        const std::int64_t c = c4 * 4 + j;
        if (c >= p.extents.c) continue;
        const std::int8_t value = RandomInt8(p.seed, (n * p.extents.c + c) * plane + pixel);
        word |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(value)) << (8 * j);
      }
      t.StoreGlobal(reinterpret_cast<std::uint32_t*>(p.dst) + i, word);
    }
  }
};

// got in NCxHWx<4>, want in NCHW or, if kBlocked, in NCxHWx<4> too. Against NCHW, surplus channels
// must be zero.
template <bool kBlocked>
struct CompareKernel : DataKernel {
  using Params = CompareParams;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const std::int64_t plane = p.extents.h * p.extents.w;
    const std::int64_t size = NCxHWx<4>::Size(p.extents);
    const std::int64_t image = NCxHWx<4>::ImageStride(p.extents);
    Differences found;
    for (std::int64_t i = First(t); i < size; i += std::int64_t{p.blocks} * kThreads) {
      int want = 0;
      if constexpr (kBlocked) {
        want = t.LoadGlobal(p.want + i);
      } else {
        const std::int64_t n = i / image;
        const std::int64_t c = i % image / (4 * plane) * 4 + i % 4;
        const std::int64_t pixel = i / 4 % plane;
        if (c < p.extents.c) want = t.LoadGlobal(p.want + (n * p.extents.c + c) * plane + pixel);
      }
      const int got = t.LoadGlobal(p.got + i);
      const int distance = got > want ? got - want : want - got;
      found.count += distance != 0;
      found.largest = distance > found.largest ? distance : found.largest;
    }
    t.StoreGlobal(p.parts + First(t), found);
  }
};

// kUnroll * rounds dp4a in each of kChains independent chains.
struct Dp4aKernel : DataKernel {
  using Params = Dp4aParams;
  static constexpr int kChains = 8;
  static constexpr int kUnroll = 16;
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
