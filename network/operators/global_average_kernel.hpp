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

// A block makes kGroups groups of 16 channels, and kParts threads share the pixels of each.
template <bool kWide>
struct GlobalAverageKernel {
  using Params = GlobalAverageParams;
  static constexpr int kGroups = 16, kParts = 8;
  static constexpr int kThreads = kGroups * kParts;
  static constexpr int kTogether = kWide ? 4 : 1;  // pixels that a thread loads before it uses one
  static constexpr int kMinBlocksPerSm = kWide ? 8 : 3;
  static constexpr std::int32_t kBlockUnits = kGroups;  // groups that a block makes
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;
  struct SharedStorage {
    SumQuad quad[4][kThreads];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const std::int32_t unit = t.block_x() * kGroups + t.tid() % kGroups;
    const int part = t.tid() / kGroups;
    Place at;
    std::int32_t c = 0, kept = 0;
    if (unit < p.units.count) {
      at = p.units.At(unit);
      c = at.c - p.channels.begin;
      kept = p.channels.count - c;
    }
    SumQuad sums[4] = {};
    if (kept > 0) AddUp(p, t, at, c, part, sums);
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) t.StoreShared(&shared.quad[i][t.tid()], sums[i]);
    WEFT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      t.SyncThreads();
      if (part < half) {
        WEFT_UNROLL
        for (int i = 0; i < 4; ++i) {
          const SumQuad others = t.LoadShared(&shared.quad[i][t.tid() + half * kGroups]);
          for (int j = 0; j < 4; ++j) sums[i].sum[j] += others.sum[j];
          t.StoreShared(&shared.quad[i][t.tid()], sums[i]);
        }
      }
    }
    if (part != 0 || unit >= p.units.count) return;
    Bytes made{};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      float steps[4];
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        steps[j] = epilogues::Mul(static_cast<float>(sums[i].sum[j] - p.subtract), p.ratio);
      }
      made.quad[i] = BytesOf(t, steps, p.to_dst);
    }
    KeepFirst(made, kept);
    StoreChannels<kWide>(t, p.dst, at, p.channels, made);
  }

 private:
  // Adds up bytes of the pixels of a part: two in the 16 bits each of a word, as long as these have room.
  WEFT_DEVICE static void AddUp(const Params& p, arch::Thread t, Place at, std::int32_t c, int part,
                                SumQuad (&sums)[4]) {
    constexpr std::int32_t kMost = 65535 / 255 / kTogether;
    std::int32_t pixel = part;
    while (pixel < p.pixels) {
      std::uint32_t even[4] = {}, odd[4] = {};
      for (std::int32_t i = 0; i < kMost && pixel < p.pixels; ++i, pixel += kTogether * kParts) {
        Bytes loaded[kTogether];
        WEFT_UNROLL
        for (int j = 0; j < kTogether; ++j) {
          at.pixel = pixel + j * kParts;
          if (at.pixel < p.pixels) {
            loaded[j] = LoadChannels<kWide>(t, p.src, at, c);
          } else {
            for (int q = 0; q < 4; ++q) loaded[j].quad[q] = p.flip;
          }
        }
        WEFT_UNROLL
        for (int j = 0; j < kTogether; ++j) {
          WEFT_UNROLL
          for (int q = 0; q < 4; ++q) {
            const std::uint32_t word = loaded[j].quad[q] ^ p.flip;
            even[q] += word & 0x00ff00ffu;
            odd[q] += word >> 8 & 0x00ff00ffu;
          }
        }
      }
      WEFT_UNROLL
      for (int q = 0; q < 4; ++q) {
        sums[q].sum[0] += static_cast<std::int32_t>(even[q] & 0xffffu);
        sums[q].sum[1] += static_cast<std::int32_t>(odd[q] & 0xffffu);
        sums[q].sum[2] += static_cast<std::int32_t>(even[q] >> 16);
        sums[q].sum[3] += static_cast<std::int32_t>(odd[q] >> 16);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
