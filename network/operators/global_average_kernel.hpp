// GlobalAverageKernel: the average of all pixels of each channel.
#pragma once

#include <cstdint>

#include "weft/network/operators/tensor_access.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {

struct alignas(16) SumQuad {
  std::int32_t sum[4];
};

inline namespace WEFT_BACKEND {

// 1 << log_parts threads of a block share the pixels of a group of 16 channels, and add up their sums.
template <bool kWide>
struct GlobalAverageKernel {
  using Params = GlobalAverageParams;
  static constexpr int kThreads = 512;
  static constexpr int kTogether = kWide ? 8 : 1;  // pixels that a thread loads before it uses one
  static constexpr int kMinBlocksPerSm = kWide ? 2 : 1;
  static constexpr Share kShare = {};
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;
  struct SharedStorage {
    SumQuad quad[4][kThreads];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const int groups = kThreads >> p.log_parts;  // of a block
    const std::int32_t unit = t.block_x() * groups + (t.tid() & (groups - 1));
    const int part = t.tid() / groups;
    const bool exists = unit < p.units.count;
    const Place at = p.units.At(exists ? unit : 0);
    const std::int32_t c = at.c - p.channels.begin, kept = p.channels.count - c;
    SumQuad sums[4] = {};
    if (exists && kept > 0) AddUp(p, t, at, c, part, sums);
    const int parts = 1 << p.log_parts;
    if (parts > 1) {
      WEFT_UNROLL
      for (int i = 0; i < 4; ++i) t.StoreShared(&shared.quad[i][t.tid()], sums[i]);
    }
    for (int half = parts / 2; half > 0; half /= 2) {
      t.SyncThreads();
      if (part >= half) continue;
      WEFT_UNROLL
      for (int i = 0; i < 4; ++i) {
        const SumQuad others = t.LoadShared(&shared.quad[i][t.tid() + half * groups]);
        WEFT_UNROLL
        for (int j = 0; j < 4; ++j) sums[i].sum[j] += others.sum[j];
        t.StoreShared(&shared.quad[i][t.tid()], sums[i]);
      }
    }
    if (part != 0 || !exists) return;
    Bytes made{};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      float steps[4];
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        const auto sum = static_cast<float>(sums[i].sum[j] - p.subtract);
        steps[j] = Limited(epilogues::Mul(sum, p.ratio), p.to_dst);
      }
      made.quad[i] = RoundedBytes(t, steps, p.to_dst);
    }
    KeepFirst(made, kept);
    StoreChannels(t, p.dst, at, p.channels, made);
  }

 private:
  WEFT_DEVICE static void AddUp(const Params& p, arch::Thread t, Place at, std::int32_t c, int part,
                                SumQuad (&sums)[4]) {
    const std::uint8_t* from = AddressOf<const std::uint8_t>(p.src, {.n = at.n, .pixel = part}, c);
    const std::int64_t step = p.src.pixel << p.log_parts;
    for (std::int32_t pixel = part; pixel < p.pixels; pixel += kTogether << p.log_parts) {
      Bytes loaded[kTogether];
      bool exists[kTogether];
      WEFT_UNROLL
      for (int i = 0; i < kTogether; ++i, from += step) {
        at.pixel = pixel + (i << p.log_parts);
        exists[i] = at.pixel < p.pixels;
        if constexpr (kWide) {
          loaded[i] = t.LoadGlobalCoherentOr0(reinterpret_cast<const Bytes*>(from), exists[i]);
        } else {
          loaded[i] = LoadChannels(t, p.src, at, c);
        }
      }
      WEFT_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        WEFT_UNROLL
        for (int q = 0; q < 4; ++q) {
          const std::uint32_t word = exists[i] ? loaded[i].quad[q] ^ p.flip : 0;
          WEFT_UNROLL
          for (int j = 0; j < 4; ++j) {
            sums[q].sum[j] = t.Dp4aU8S8(word, 1u << 8 * j, sums[q].sum[j]);
          }
        }
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
