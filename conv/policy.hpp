// What a user writes to define an operator: a policy struct.
//
//     struct MyConv {
//       using Element = std::int8_t;
//       using SrcLayout = weft::NCxHWx<4>;
//       using FilterLayout = weft::CxRSKx<4>;
//       using DstLayout = weft::NCxHWx<32>;
//       using Prologue = weft::prologues::SharedFilter;
//       using Epilogue = weft::epilogues::BiasHSwish<>;
//       static constexpr weft::conv::Config config = weft::conv::kSimt128x128;
//     };
//
// Every member is required. This header is all that a file of policies needs; it includes neither
// Abseil nor CUDA.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/tile.hpp"
#include "weft/layouts/formats.hpp"
#include "weft/prologues/shared_filter.hpp"

namespace weft::conv {

// Widths in bytes of one thread's accesses to global memory.
struct Alignment {
  int src = 0;  // 4 for NCxHWx<4>: one pixel of one channel block
  int dst = 0;  // 1, 4, 8 or 16; at most the output channels that lie side by side in DstLayout
};

// The numbers of an operator. m: output pixels, n: output channels, k: input elements (C R S).
struct Config {
  gemm::Mainloop mainloop = gemm::Mainloop::kSimt;
  gemm::TileShape threadblock;  // one block's share of the output, and its step in k
  gemm::TileShape warp;         // one warp's share; .k equals threadblock.k
  gemm::TileShape thread;       // one thread's accumulators (m x n); .k is 4, one dp4a
  int stages = 0;               // shared-memory buffers; 2 for kSimt
  Alignment alignment;
};

// Tiles that suit most layers, ready to be named in a policy; the dst alignment fits every layout
// whose channel runs are 4 elements or longer.
constexpr Config SimtConfig(gemm::TileShape threadblock, gemm::TileShape warp,
                            gemm::TileShape thread, int dst_alignment = 4) {
  return {gemm::Mainloop::kSimt, threadblock, warp, thread, 2, {4, dst_alignment}};
}
inline constexpr Config kSimt128x128 = SimtConfig({128, 128, 32}, {64, 32, 32}, {8, 8, 4});
inline constexpr Config kSimt128x64 = SimtConfig({128, 64, 32}, {64, 32, 32}, {8, 8, 4});
inline constexpr Config kSimt128x32 = SimtConfig({128, 32, 32}, {64, 32, 32}, {8, 8, 4});
inline constexpr Config kSimt64x64 = SimtConfig({64, 64, 32}, {32, 32, 32}, {4, 8, 4});
inline constexpr Config kSimt32x32 = SimtConfig({32, 32, 32}, {32, 16, 32}, {4, 4, 4});

template <class P>
concept HasTypes = requires {
  typename P::Element;
  typename P::SrcLayout;
  typename P::FilterLayout;
  typename P::DstLayout;
  typename P::Prologue;
  typename P::Epilogue;
};

template <class P>
concept HasConfig = requires {
  { P::config } -> std::same_as<const Config&>;
};

namespace internal {

template <class Layout>
constexpr bool DivisibleRun(int bytes, int element_bytes) {
  // kChannelRun == 0: all channels side by side, so the run is checked against K at Create.
  return bytes % element_bytes == 0 &&
         (Layout::kChannelRun == 0 || Layout::kChannelRun * element_bytes % bytes == 0);
}

constexpr bool PositiveTile(const gemm::TileShape& t) {
  return t.m > 0 && t.n > 0 && t.k > 0;
}

constexpr bool Divides(const gemm::TileShape& small, const gemm::TileShape& large) {
  return PositiveTile(small) && PositiveTile(large) && large.m % small.m == 0 &&
         large.n % small.n == 0;
}

// Each thread brings whole columns of the source slice, or equal shares of one.
constexpr bool ThreadsCoverSlice(const gemm::TileShape& block, int threads) {
  if (block.m % threads == 0) return true;
  return threads % block.m == 0 && block.k / 4 % (threads / block.m) == 0;
}

}  // namespace internal

// Instantiating this type checks a policy; each failure is one sentence. Everything that takes a
// policy goes through it.
template <class P>
struct CheckedPolicy {
  static_assert(HasTypes<P>,
                "weft: a convolution policy needs the types Element, SrcLayout, FilterLayout, "
                "DstLayout, Prologue and Epilogue; at least one is missing (see conv/policy.hpp)");
  static_assert(HasConfig<P>,
                "weft: a convolution policy needs `static constexpr weft::conv::Config config`");
  static constexpr bool kValid = true;
};

template <class P>
requires(HasTypes<P>&& HasConfig<P>) struct CheckedPolicy<P> {
  static constexpr Config config = P::config;
  using Epilogue = typename P::Epilogue;

  static_assert(std::is_same_v<typename P::Element, std::int8_t>,
                "weft: the simt convolution multiplies Element = std::int8_t");
  static_assert(TensorFormat<typename P::SrcLayout> && TensorFormat<typename P::DstLayout>,
                "weft: SrcLayout and DstLayout are tensor formats (NCxHWx<x>, NHWC, NCHW)");
  static_assert(FilterFormat<typename P::FilterLayout>,
                "weft: FilterLayout is a filter format (CxRSKx<x>, KRSC, KCRS)");
  static_assert(std::is_same_v<typename P::SrcLayout, NCxHWx<4>> &&
                    std::is_same_v<typename P::FilterLayout, CxRSKx<4>>,
                "weft: the simt mainloop reads SrcLayout NCxHWx<4> with FilterLayout CxRSKx<4>");
  static_assert(prologues::Prologue<typename P::Prologue>,
                "weft: Prologue is not a prologue; use weft::prologues::SharedFilter");
  static_assert(epilogues::IsChain<Epilogue>::value,
                "weft: Epilogue is a weft::epilogues::Chain<stages...>");

  static_assert(internal::Divides(config.warp, config.threadblock) &&
                    config.warp.k == config.threadblock.k,
                "weft: config.warp must divide config.threadblock in m and n and equal it in k");
  static_assert(internal::Divides(config.thread, config.warp) && config.thread.k == 4 &&
                    config.threadblock.k % 4 == 0,
                "weft: config.thread must divide config.warp in m and n, with thread.k = 4 (one "
                "dp4a) and threadblock.k a multiple of 4");
  static_assert(
      config.warp.m / config.thread.m * (config.warp.n / config.thread.n) == 32,
      "weft: a warp has 32 threads: (warp.m / thread.m) * (warp.n / thread.n) must be 32");
  static_assert(config.thread.n % 4 == 0 && (config.thread.m == 2 || config.thread.m % 4 == 0),
                "weft: config.thread.n must be a multiple of 4 (one dst word), and thread.m 2 or a "
                "multiple of 4");
  static_assert(config.stages == 2, "weft: the simt mainloop has config.stages = 2");
  static_assert(
      config.alignment.src == 4,
      "weft: config.alignment.src does not fit NCxHWx<4>: its channel blocks are 4 bytes, "
      "so 4 is the only choice");
  static_assert(config.alignment.dst == 1 || config.alignment.dst == 4 ||
                    config.alignment.dst == 8 || config.alignment.dst == 16,
                "weft: config.alignment.dst is 1, 4, 8 or 16 bytes");
  static_assert(internal::DivisibleRun<typename P::DstLayout>(config.alignment.dst,
                                                              sizeof(typename Epilogue::Output)),
                "weft: config.alignment.dst does not fit DstLayout: it must be whole elements and "
                "divide the bytes of the channels that lie side by side there");
  static_assert(config.thread.n * static_cast<int>(sizeof(typename Epilogue::Output)) %
                        config.alignment.dst ==
                    0,
                "weft: config.alignment.dst is wider than the config.thread.n output channels that "
                "one thread holds");
  static constexpr int kThreads =
      config.threadblock.m / config.warp.m * (config.threadblock.n / config.warp.n) * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  static_assert(internal::ThreadsCoverSlice(config.threadblock, kThreads),
                "weft: config.threadblock has too many threads for its k extent: threads and "
                "threadblock.m must divide one another, and threads / threadblock.m must divide "
                "threadblock.k / 4");
  static_assert(
      std::int64_t{config.stages} * config.threadblock.k *
              (config.threadblock.m + config.threadblock.n) <=
          227 * 1024,
      "weft: config.threadblock and config.stages need more than 227 KB of shared memory, "
      "the most any GPU gives one block");
  static constexpr bool kValid = true;
};

template <class P>
concept Policy = CheckedPolicy<P>::kValid;

}  // namespace weft::conv
