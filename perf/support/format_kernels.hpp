// Kernels that rewrite tensors in another format: one of every element type, for preparations, and
// one as quick as memory allows, which is what a user pays whose tensors are not in the format that
// an operator wants. Both back ends.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "perf/support/data_kernels.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/element/float16.hpp"
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

// Addresses are aligned to 16 bytes. dst has `dst_runs` blocks of channels in an image, each with
// `to.run` channels side by side for every pixel.
struct ReformatParams {
  const std::int8_t* src = nullptr;
  std::int8_t* dst = nullptr;
  TensorExtents extents;
  FormatStrides from, to;
  std::uint32_t chunks = 0;  // of dst, in all
  std::uint32_t dst_runs = 1;
  int blocks = 0;
};

inline namespace WEFT_BACKEND {

// From and To are std::int8_t or Half. Half to int8 rounds to the nearest even and
// clamps. Channels that fill the last block of dst are not written.
template <class From, class To>
struct ConvertKernel : DataKernel {
  using Params = ConvertParams;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const std::int64_t pixels = p.extents.h * p.extents.w;
    const std::int64_t size = p.extents.n * p.extents.c * pixels;
    for (std::int64_t i = First(t); i < size; i += std::int64_t{p.blocks} * kThreads) {
      const std::int64_t c = i % p.extents.c;
      const std::int64_t pixel = i / p.extents.c % pixels;
      const std::int64_t n = i / (p.extents.c * pixels);
      const From value = t.LoadGlobal(static_cast<const From*>(p.src) + p.from.Offset(n, c, pixel));
      To* const to = static_cast<To*>(p.dst) + p.to.Offset(n, c, pixel);
      if constexpr (std::is_same_v<From, To>) {
        t.StoreGlobal(to, value);
      } else if constexpr (std::is_same_v<From, std::int8_t>) {
        const float scale = p.scale == nullptr ? 1.0f : t.LoadGlobal(p.scale + n);
        t.StoreGlobal(to, Half::FromFloat(scale * static_cast<float>(value)));
      } else {
        t.StoreGlobal(to, RoundToInt8(value.ToFloat()));
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

// A thread writes chunks of kDst bytes, gathered in words of kSrc bytes: 16 or 4 each, kSrc <=
// kDst, both divisors of the runs. Channels from extents.c on become zero.
template <int kSrc, int kDst>
struct ReformatKernel : DataKernel {
  using Params = ReformatParams;

  template <int kBytes>
  struct alignas(kBytes) Word {
    std::uint32_t u[kBytes / 4];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const auto pixels = static_cast<std::uint32_t>(p.extents.h * p.extents.w);
    const auto run_chunks = static_cast<std::uint32_t>(p.to.run / kDst);
    const auto step = static_cast<std::uint32_t>(p.blocks) * kThreads;
    for (auto i = static_cast<std::uint32_t>(First(t)); i < p.chunks; i += step) {
      const std::uint32_t place = i / run_chunks;
      const std::uint32_t image_run = place / pixels;
      const std::uint32_t pixel = place % pixels;
      const std::uint32_t n = image_run / p.dst_runs;
      const std::int64_t c =
          image_run % p.dst_runs * p.to.run + std::int64_t{i % run_chunks} * kDst;
      Word<kDst> chunk;
      WEFT_UNROLL
      for (int j = 0; j < kDst / kSrc; ++j) {
        const std::int64_t channel = c + j * kSrc;
        Word<kSrc> word{};
        if (channel < p.extents.c) {
          word = t.LoadGlobal(
              reinterpret_cast<const Word<kSrc>*>(p.src + p.from.Offset(n, channel, pixel)));
        }
        WEFT_UNROLL
        for (int k = 0; k < kSrc / 4; ++k) chunk.u[j * kSrc / 4 + k] = word.u[k];
      }
      t.StoreGlobal(reinterpret_cast<Word<kDst>*>(p.dst + p.to.Offset(n, c, pixel)), chunk);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::perf
