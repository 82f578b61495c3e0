// PoolKernel: the greatest element, or the average, of a window of each channel, of any window. WindowPoolKernel: of
// square windows whose extents the compiler knows.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/network/operators/tensor_access.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

// The greatest of bytes. Bytes 1 and 3 of a word, and 0 and 2, are the upper halves of two numbers of 16 bits; what their
// lower halves are decides between equal bytes only.
template <bool kSigned>
struct Greatest {
  static constexpr std::uint32_t kLeast = kSigned ? 0x80008000u : 0;
  std::uint32_t odd[4] = {kLeast, kLeast, kLeast, kLeast};
  std::uint32_t even[4] = {kLeast, kLeast, kLeast, kLeast};

  WEFT_DEVICE static Greatest One(const Bytes& x) {
    Greatest one;
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) one.odd[i] = x.quad[i], one.even[i] = x.quad[i] << 8;
    return one;
  }
  WEFT_DEVICE void Take(arch::Thread t, const Greatest& other) {
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      odd[i] = t.template MaxPairs<kSigned>(odd[i], other.odd[i]);
      even[i] = t.template MaxPairs<kSigned>(even[i], other.even[i]);
    }
  }
  template <bool, bool>
  WEFT_DEVICE Bytes Made(arch::Thread t, const PoolParams&, const Divisor&) const {
    Bytes made{};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) made.quad[i] = t.BytePermute(even[i], odd[i], 0x7351u);
    return made;
  }
};

// The sum of numbers as onnxruntime adds them up: real values, one after the other, each sum rounded to a float.
struct Average {
  float sum[kGroup] = {};

  WEFT_DEVICE void Take(arch::Thread t, const PoolParams& p, const Bytes& x, bool first) {
    WEFT_UNROLL
    for (int i = 0; i < kGroup; ++i) {
      const std::uint32_t word = x.quad[i / 4] ^ p.from_src.flip;
      const float number = epilogues::Mul(FloatOf(t, word, i % 4, p.from_src.base), p.src_scale);
      sum[i] = first ? number : epilogues::Add(sum[i], number);
    }
  }
  // kExact: `taken` is a power of two.
  template <bool kWide, bool kExact>
  WEFT_DEVICE Bytes Made(arch::Thread t, const PoolParams& p, const Divisor& taken) const {
    Bytes made{};
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) {
      float steps[4];
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        const float average = kExact ? epilogues::Mul(sum[4 * i + j], taken.reciprocal)
                                     : Quotient<kWide>(sum[4 * i + j], taken);
        const float step = Quotient<kWide>(average, p.dst_scale);
        steps[j] = epilogues::Add(step, p.zero_point);
      }
      VisitByte(p.to_dst,
                [&]<class Byte>() { made.quad[i] = t.template PackSaturated<Byte, false>(steps); });
    }
    return made;
  }
};

// A thread makes 16 channels of one pixel.
template <bool kMax, bool kWide>
struct PoolKernel {
  using Params = PoolParams;
  struct SharedStorage {};
  static constexpr int kThreads = 256;
  static constexpr int kTogether =
      kWide ? 3 : 1;  // pixels of a row that are loaded before one is used
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr Share kShare = {};
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
    StoreChannels(t, p.dst, at, p.channels, made);
  }

 private:
  using Of = std::conditional_t<kMax, Greatest<false>, Average>;

  // Signed bytes whose upper bits are flipped are in the order of unsigned ones.
  WEFT_DEVICE static Bytes Flipped(const Params& p, Bytes x) {
    WEFT_UNROLL
    for (int i = 0; i < 4; ++i) x.quad[i] ^= p.from_src.flip;
    return x;
  }

  WEFT_DEVICE static Bytes Pooled(const Params& p, arch::Thread t, const Place& at,
                                  std::int32_t c) {
    const std::int32_t top = at.h * p.stride_h - p.pad_top;
    const std::int32_t left = at.w * p.stride_w - p.pad_left;
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
          if (s + i < p.window_w && x >= 0 && x < p.src_w) {
            const Place from = {.n = at.n, .c = c, .pixel = y * p.src_w + x};
            if constexpr (kWide) {
              loaded[i] = t.LoadGlobalCoherent(
                  reinterpret_cast<const Bytes*>(AddressOf<const std::uint8_t>(p.src, from, c)));
            } else {
              loaded[i] = LoadChannels(t, p.src, from, c);
            }
            ++taken;
          } else {
            for (int q = 0; q < 4; ++q) loaded[i].quad[q] = p.neutral;
          }
        }
        WEFT_UNROLL
        for (int i = 0; i < kTogether; ++i) {
          if (s + i >= p.window_w) continue;
          if constexpr (kMax) {
            pooled.Take(t, Of::One(Flipped(p, loaded[i])));
          } else {
            pooled.Take(t, p, loaded[i], false);
          }
        }
      }
    }
    Divisor by = p.taken;
    if (!kMax && by.divisor == 0.0f) {
      by.divisor = static_cast<float>(taken);
      by.reciprocal = 1.0f / by.divisor;
    }
    const Bytes made = pooled.template Made<kWide, false>(t, p, by);
    return kMax ? Flipped(p, made) : made;
  }
};

// A thread makes 16 channels of kRows x kColumns pixels, walks down the rows of the source and loads each pixel that it needs
// once. All tensors' accesses are of 16 bytes. Averages have no padding; where maxima have some the nearest pixel stands for
// it, which is in the window.
template <bool kMax, int kWindow, int kStride, int kRows, int kColumns>
struct WindowPoolKernel {
  using Params = PoolParams;
  struct SharedStorage {};
  static constexpr int kThreads = 128;
  static constexpr int kSpan = (kColumns - 1) * kStride + kWindow;  // pixels of a row of the source
  static constexpr int kSourceRows = (kRows - 1) * kStride + kWindow;
  static constexpr bool kExact = (kWindow & (kWindow - 1)) == 0;
  static constexpr int kMinBlocksPerSm = kColumns > 1 ? 2 : 6;
  static constexpr int kMinBlocksPerSmBefore90 = 1;
  static constexpr Share kShare = {.rows = kRows, .columns = kColumns};
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const std::int32_t unit = t.block_x() * kThreads + t.tid();
    if (unit >= p.units.count) return;
    const Place at = p.units.At(unit);
    const std::int32_t c = at.c - p.channels.begin;
    Bytes made[kRows][kColumns] = {};
    if (c < p.channels.count) {
      if constexpr (!kMax) {
        Pool<Average>(p, t, at, c, made);
      } else if (p.from_src.flip != 0) {
        Pool<Greatest<true>>(p, t, at, c, made);
      } else {
        Pool<Greatest<false>>(p, t, at, c, made);
      }
    }
    std::uint8_t* to = AddressOf<std::uint8_t>(p.dst, at, at.c);
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i, to += p.units.Step(p.dst)) {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        if (!p.units.Has(at, i) || at.w + j >= p.units.row_pixels) continue;
        t.StoreGlobal(reinterpret_cast<Bytes*>(to + j * p.dst.pixel), made[i][j]);
      }
    }
  }

 private:
  template <class Of>
  WEFT_DEVICE static void Pool(const Params& p, arch::Thread t, const Place& at, std::int32_t c,
                               Bytes (&made)[kRows][kColumns]) {
    const auto* const memory = AddressOf<const std::uint8_t>(p.src, {.n = at.n}, c);
    const std::int32_t top = at.h * kStride - p.pad_top, left = at.w * kStride - p.pad_left;
    const auto inside = [](std::int32_t i, std::int32_t end) {
      return i < 0 ? 0 : i < end ? i : end - 1;
    };
    const auto pixel = static_cast<std::int32_t>(p.src.pixel);
    std::int32_t column[kSpan];  // an image of the source has less than 2^31 bytes
    WEFT_UNROLL
    for (int j = 0; j < kSpan; ++j) column[j] = inside(left + j, p.src_w) * pixel;
    Of pooled[kRows][kColumns];
    WEFT_UNROLL
    for (int y = 0; y < kSourceRows; ++y) {
      Bytes loaded[kSpan];
      const std::uint8_t* const row = memory + inside(top + y, p.src_h) * (p.src_w * pixel);
      WEFT_UNROLL
      for (int j = 0; j < kSpan; ++j) {
        loaded[j] = t.LoadGlobalCoherent(reinterpret_cast<const Bytes*>(row + column[j]));
      }
      Of across[kColumns];
      if constexpr (kMax) Across(t, loaded, across);
      WEFT_UNROLL
      for (int i = 0; i < kRows; ++i) {
        if (y < i * kStride || y >= i * kStride + kWindow) continue;
        WEFT_UNROLL
        for (int j = 0; j < kColumns; ++j) {
          if constexpr (kMax) {
            if (y == i * kStride)
              pooled[i][j] = across[j];
            else
              pooled[i][j].Take(t, across[j]);
          } else {
            WEFT_UNROLL
            for (int s = 0; s < kWindow; ++s) {
              pooled[i][j].Take(t, p, loaded[j * kStride + s], y == i * kStride && s == 0);
            }
          }
        }
      }
    }
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i) {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        made[i][j] = pooled[i][j].template Made<true, kExact>(t, p, p.taken);
      }
    }
  }

  // The maxima of a row of each window: that of the pixels that all have is taken once.
  template <class Of>
  WEFT_DEVICE static void Across(arch::Thread t, const Bytes (&loaded)[kSpan],
                                 Of (&across)[kColumns]) {
    constexpr int kFirst = (kColumns - 1) * kStride;
    static_assert(kFirst < kWindow);
    Of pixel[kSpan];
    WEFT_UNROLL
    for (int s = 0; s < kSpan; ++s) pixel[s] = Of::One(loaded[s]);
    Of middle = pixel[kFirst];
    WEFT_UNROLL
    for (int s = kFirst + 1; s < kWindow; ++s) middle.Take(t, pixel[s]);
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      across[j] = middle;
      WEFT_UNROLL
      for (int s = j * kStride; s < j * kStride + kWindow; ++s) {
        if (s < kFirst || s >= kWindow) across[j].Take(t, pixel[s]);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
