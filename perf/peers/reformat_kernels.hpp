// A kernel that rewrites an int8 tensor in another format as quickly as memory allows: what a user
// pays whose tensors are not in the format that an operator wants. Both back ends.
#pragma once

#include <cstdint>

#include "perf/peers/convert_kernels.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

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

// A thread writes chunks of kDst bytes, gathered in words of kSrc bytes: 16 or 4 each, kSrc <=
// kDst, both divisors of the runs. Channels from extents.c on become zero.
template <int kSrc, int kDst>
struct ReformatKernel {
  using Params = ReformatParams;
  struct SharedStorage {};
  static constexpr int kThreads = 256;
  static constexpr arch::Requires kRequires{.min = 75};

  template <int kBytes>
  struct alignas(kBytes) Word {
    std::uint32_t u[kBytes / 4];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const auto pixels = static_cast<std::uint32_t>(p.extents.h * p.extents.w);
    const auto run_chunks = static_cast<std::uint32_t>(p.to.run / kDst);
    const auto step = static_cast<std::uint32_t>(p.blocks) * kThreads;
    for (std::uint32_t i = static_cast<std::uint32_t>(t.block_x()) * kThreads + t.tid();
         i < p.chunks; i += step) {
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
