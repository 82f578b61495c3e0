// A kernel that rewrites a tensor in another format, and in half precision or back. Both back ends.
#pragma once

#include <cstdint>
#include <type_traits>

#include "perf/peers/half_bits.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

// A tensor format as numbers: channel c of pixel i of image n lies at
//   n * image + c / run * block + c % run + i * pixel.
struct FormatStrides {
  std::int64_t image = 0;
  std::int64_t run = 1;
  std::int64_t block = 0;
  std::int64_t pixel = 0;

  constexpr std::int64_t Offset(std::int64_t n, std::int64_t c, std::int64_t i) const {
    return n * image + c / run * block + c % run + i * pixel;
  }
};

template <TensorFormat Format>
constexpr FormatStrides StridesOf(const TensorExtents& e) {
  constexpr std::int64_t kRun = Format::kChannelRun;
  return {Format::ImageStride(e), kRun == 0 ? e.c : kRun,
          kRun == 0 ? 0 : Format::ChannelOffset(e, kRun), Format::PixelStride(e)};
}

// A filter is a tensor with n = k, h = r, w = s: KRSC is its NHWC, KCRS its NCHW.
constexpr TensorExtents AsTensor(const FilterExtents& e) {
  return {e.k, e.c, e.r, e.s};
}

struct ConvertParams {
  const void* src = nullptr;
  void* dst = nullptr;
  TensorExtents extents;
  FormatStrides from, to;
  const float* scale = nullptr;  // of image n; from int8 to half only; null is 1
  int blocks = 0;
};

inline namespace WEFT_BACKEND {

// std::int8_t, or std::uint16_t for the bits of a half. Half to int8 rounds to the nearest even and
// clamps. Channels that fill the last block of dst are not written.
template <class From, class To>
struct ConvertKernel {
  using Params = ConvertParams;
  struct SharedStorage {};
  static constexpr int kThreads = 256;
  static constexpr arch::Requires kRequires{.min = 75};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const std::int64_t pixels = p.extents.h * p.extents.w;
    const std::int64_t size = p.extents.n * p.extents.c * pixels;
    const std::int64_t first = static_cast<std::int64_t>(t.block_x()) * kThreads + t.tid();
    for (std::int64_t i = first; i < size; i += std::int64_t{p.blocks} * kThreads) {
      const std::int64_t c = i % p.extents.c;
      const std::int64_t pixel = i / p.extents.c % pixels;
      const std::int64_t n = i / (p.extents.c * pixels);
      const From value = t.LoadGlobal(static_cast<const From*>(p.src) + p.from.Offset(n, c, pixel));
      To* const to = static_cast<To*>(p.dst) + p.to.Offset(n, c, pixel);
      if constexpr (std::is_same_v<From, To>) {
        t.StoreGlobal(to, value);
      } else if constexpr (std::is_same_v<From, std::int8_t>) {
        const float scale = p.scale == nullptr ? 1.0f : t.LoadGlobal(p.scale + n);
        t.StoreGlobal(to, HalfFromFloat(scale * static_cast<float>(value)));
      } else {
        t.StoreGlobal(to, RoundToInt8(HalfToFloat(value)));
      }
    }
  }

 private:
  WEFT_DEVICE static std::int8_t RoundToInt8(float x) {
    if (!(x > -128.0f)) return -128;
    if (!(x < 127.0f)) return 127;
    // The sum's last bit is worth 1, and the addition rounds.
    const float sum = x + 12582912.0f;
    return static_cast<std::int8_t>(std::bit_cast<std::int32_t>(sum) - 0x4B400000);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::perf
