// PoolKernel: the greatest element, or the average, of a window of each channel.
#pragma once

#include <cstdint>

#include "weft/network/operators/tensor_access.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

// The greatest of bytes, which ByteNumbers::flip has been applied to. Bytes 0 and 2 of a word, and 1 and 3, are kept apart,
// so that each is a number of 16 bits.
struct Greatest {
  std::uint32_t even[4] = {}, odd[4] = {};

  WEFT_DEVICE void Take(arch::Thread t, const PoolParams& p, const Bytes& x) {
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t word = x.quad[i] ^ p.from_src.flip;
      even[i] = t.MaxPairs(even[i], word & 0x00ff00ffu);
      odd[i] = t.MaxPairs(odd[i], word & 0xff00ff00u);
    }
  }
  WEFT_DEVICE Bytes Made(arch::Thread, const PoolParams& p, std::int32_t) const {
    Bytes made{};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) made.quad[i] = (even[i] | odd[i]) ^ p.from_src.flip;
    return made;
  }
};

// The sum of numbers as onnxruntime adds them up: real values, one after the other, each sum rounded to a float.
struct Average {
  float sum[kGroup] = {};

  WEFT_DEVICE void Take(arch::Thread t, const PoolParams& p, const Bytes& x) {
    WEFT_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      const std::uint32_t word = x.quad[i / 4] ^ p.from_src.flip;
      const float number = epilogues::Mul(FloatOf(t, word, i % 4, p.from_src.base), p.src_scale);
      sum[i] = epilogues::Add(sum[i], number);
    }
  }
  WEFT_DEVICE Bytes Made(arch::Thread t, const PoolParams& p, std::int32_t taken) const {
    const float count = static_cast<float>(p.count > 0 ? p.count : taken);
    Bytes made{};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      float steps[4];
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        steps[j] = epilogues::Add(sum[4 * i + j] / count / p.dst_scale, p.zero_point);
      }
      made.quad[i] = BytesOf(t, steps, p.to_dst);
    }
    return made;
  }
};

// Of is Greatest or Average. A thread makes 16 channels of one pixel.
template <class Of, bool kWide>
struct PoolKernel {
  using Params = PoolParams;
  struct SharedStorage {};
  static constexpr int kThreads = 256;
  static constexpr int kUnits = 1;
  static constexpr int kTogether =
      kWide ? 3 : 1;  // pixels of a row that are loaded before one is used
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr std::int32_t kBlockUnits = kThreads * kUnits;  // groups that a block makes
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const std::int32_t unit = t.block_x() * kThreads + t.tid();
    if (unit >= p.units.count) return;
    const Place at = p.units.At(unit);
    const std::int32_t c = at.c - p.channels.begin, kept = p.channels.count - c;
    Bytes made{};
    if (kept > 0) made = Pooled(p, t, at, c);
    if constexpr (!kWide) KeepFirst(made, kept);
    StoreChannels<kWide>(t, p.dst, at, p.channels, made);
  }

 private:
  WEFT_DEVICE static Bytes Pooled(const Params& p, arch::Thread t, const Place& at,
                                  std::int32_t c) {
    std::int32_t w = 0;
    const std::int32_t h = p.dst_w.Divmod(at.pixel, w);
    const std::int32_t top = h * p.stride_h - p.pad_top, left = w * p.stride_w - p.pad_left;
    Of pooled;
    std::int32_t taken = 0;
    for (std::int32_t r = 0; r < p.window_h; ++r) {
      const std::int32_t y = top + r * p.dilation_h;
      if (y < 0 || y >= p.src_h) continue;
      for (std::int32_t s = 0; s < p.window_w; s += kTogether) {
        Bytes loaded[kTogether];
        WEFT_UNROLL
        for (int i = 0; i < kTogether; ++i) {
          const std::int32_t x = left + (s + i) * p.dilation_w;
          const bool inside = s + i < p.window_w && x >= 0 && x < p.src_w;
          if (inside) {
            const Place from = {.n = at.n, .c = c, .pixel = y * p.src_w + x};
            loaded[i] = LoadChannels<kWide>(t, p.src, from, c);
            ++taken;
          } else {
            for (int q = 0; q < 4; ++q) loaded[i].quad[q] = p.neutral;
          }
        }
        WEFT_UNROLL
        for (int i = 0; i < kTogether; ++i) {
          if (s + i < p.window_w) pooled.Take(t, p, loaded[i]);
        }
      }
    }
    return pooled.Made(t, p, taken);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
