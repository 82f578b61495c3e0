// The products of a depthwise kernel: dp4a over four taps of a filter row at once.
//
// Memory has the channels of a pixel side by side, while dp4a wants pixels of one channel. Two byte
// permutations make pairs from the words of two pixels (4 channels each), and then one for each
// channel makes a word of four pixels from two pairs:
//
//     pixel 0  a b c d      pair  a0 a1 b0 b1     word  a0 a1 a2 a3
//     pixel 1  a b c d            c0 c1 d0 d1           b0 b1 b2 b3 ...
//
// A word that begins at an even pixel serves the output there and, with the filter moved by one
// byte, the output after it. Filter rows of more than one word take as many dp4a. The permutations'
// selectors say which channels of the source the four output channels see: with K = C the same
// four, with K = 3 C perhaps channels 0, 0, 0 and 1. Since the first output channel is a multiple
// of 4, all of them lie in one word of the source whatever K / C is.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/conv/depthwise/depthwise_any_window.hpp"
#include "weft/conv/depthwise/depthwise_filter_zeros.hpp"
#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/conv/depthwise/depthwise_place.hpp"
#include "weft/conv/depthwise/small_sum.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Whether a block is one of the first that a GPU starts, as far as a kernel can tell.
constexpr bool StartsAtOnce(int block, int blocks_per_sm) {
  constexpr int kMultiprocessors = 132;  // of most GPUs with dependent launches
  return block < kMultiprocessors * blocks_per_sm;
}

// The kernel's work for filters of kDepthwiseShapes[kShape]. PolicyT: a conv::Policy with a
// DepthwiseConfig.
template <class PolicyT, int kShape>
class DepthwiseShapeWindow {
  static constexpr DepthwiseShape kOf = kDepthwiseShapes[kShape];
  static constexpr int kR = kOf.r, kS = kOf.s, kStride = kOf.stride;
  static constexpr int kColumns = DepthwiseConfig::kColumns;
  using Src = typename PolicyT::SrcLayout;

 public:
  static constexpr int kRows = kOf.Rows(PolicyT::config.rows);
  static constexpr bool kSmall =
      kR * kS * (CheckedPolicy<PolicyT>::kUnsigned ? 2 : 1) <= SmallSum::kMostProducts;
  using Accumulators = std::int32_t[kRows * kColumns][4];

  // Adds the products of the thread's outputs to acc, and takes their filters' zero points from it.
  // Calls finish(i) once output row i is done.
  template <class Finish>
  WEFT_DEVICE static void Multiply(arch::Thread t, const DepthwiseIteratorParams& p,
                                   const DepthwiseTile& tile, bool channels_inside,
                                   DepthwiseFilterZeros<PolicyT>& zeros, Accumulators& acc,
                                   const Finish& finish) {
    const DepthwisePlace place(p, tile);
    const Reader reader(p, place, tile, channels_inside);
    const auto* taps = static_cast<const FilterWords*>(p.filter) +
                       static_cast<std::int64_t>(tile.k / 4) * (kR * kTapWords);
    std::uint32_t pixels[kInRows][kPixels];
    Filter filter[kR];
    const auto start = [&](int h) {
      reader.Load(t, h, pixels[h]);
      if (h < kR) LoadFilter(t, taps + h * kTapWords, channels_inside, filter[h]);
    };
    WEFT_UNROLL
    for (int h = 0; h < kAhead && h < kInRows; ++h) start(h);
    // Calls in place of a loop: nvcc does not unroll some such loops, and their pixels are then not
    // in registers.
    const auto step = [&]<int h>(std::integral_constant<int, h>) {
      if constexpr (h + kAhead < kInRows) start(h + kAhead);
      std::uint32_t word[kStarts][4];
      MakeWords(t, place, pixels[h], word);
      constexpr int kRow = h / kStride;
      if constexpr (h % kStride == 0 && kRow < kRows) zeros.Begin(acc + kRow * kColumns);
      SumRow(t, word, zeros);
      WEFT_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const int r = h - i * kStride;
        if (r >= 0 && r < kR) MultiplyRow(t, word, filter[r], acc + i * kColumns);
        if (r == kR - 1) {
          zeros.End(acc + i * kColumns);
          finish(i);
        }
      }
    };
    [&]<int... h>(std::integer_sequence<int, h...>) {
      (step(std::integral_constant<int, h>()), ...);
    }(std::make_integer_sequence<int, kInRows>());
  }

 private:
  static constexpr int kPixels = (kColumns - 1) * kStride + kS;  // pixels read of an input row
  static constexpr int kInRows = (kRows - 1) * kStride + kR;     // input rows
  static constexpr int kAhead = kR > 3 ? 1 : 2;                  // input rows in flight
  static constexpr int kShifts = kStride == 1 ? 2 : 1;    // first bytes of a window in its word
  static constexpr int kTapWords = gemm::CeilDiv(kS, 4);  // of a filter row in memory
  static constexpr int kWords = gemm::CeilDiv(kS + kShifts - 1, 4);  // dp4a of an output and row
  static constexpr int kStarts = (kStride == 1 ? 2 : 4) + 2 * (kWords - 1);
  static_assert(kStride == 1 || kStride == 2);

  struct Filter {
    std::uint32_t word[kShifts][kWords][4];
  };

  // Loads the pixels of an input row, as zeros where they are outside the image.
  class Reader {
   public:
    // Reads from the first input row of the tile on, or from `row` rows further down.
    WEFT_DEVICE Reader(const DepthwiseIteratorParams& p, const DepthwisePlace& place,
                       const DepthwiseTile& tile, bool channels_inside, int row = 0)
        : p_(p),
          pixel_bytes_(Src::kChannelRun > 0 ? Src::kChannelRun : p.pixel_bytes),
          top_(tile.p * kStride + p.base_h + row),
          left_(tile.q * kStride + p.base_w),
          columns_(channels_inside ? static_cast<std::uint32_t>(p.w) : 0u) {
      const std::int64_t offset = top_ * p.row_bytes + left_ * std::int64_t{pixel_bytes_};
      at_ = place.template Address<Src>(p, tile.n) + static_cast<std::uintptr_t>(offset);
    }

    WEFT_DEVICE void Load(arch::Thread t, int h, std::uint32_t (&pixels)[kPixels]) const {
      const auto row = at_ + static_cast<std::uintptr_t>(h * p_.row_bytes);
      const bool inside = static_cast<std::uint32_t>(top_ + h) < static_cast<std::uint32_t>(p_.h);
      const std::uint32_t columns = inside ? columns_ : 0u;
      WEFT_UNROLL
      for (int x = 0; x < kPixels; ++x) {
        const auto offset = static_cast<std::uintptr_t>(x * std::int64_t{pixel_bytes_});
        pixels[x] = LoadDepthwise<PolicyT>(t, reinterpret_cast<const std::uint32_t*>(row + offset),
                                           static_cast<std::uint32_t>(left_ + x) < columns);
      }
    }

    // Prefetches the first kCount pixels of row 0, `further` bytes from where they lie.
    template <int kCount>
    WEFT_DEVICE void Prefetch(arch::Thread t, std::uintptr_t further) const {
      const bool inside = static_cast<std::uint32_t>(top_) < static_cast<std::uint32_t>(p_.h);
      const std::uint32_t columns = inside ? columns_ : 0u;
      WEFT_UNROLL
      for (int x = 0; x < kCount && x < kPixels; ++x) {
        const auto offset = static_cast<std::uintptr_t>(x * std::int64_t{pixel_bytes_});
        if (static_cast<std::uint32_t>(left_ + x) < columns) {
          t.PrefetchL2(reinterpret_cast<const void*>(at_ + further + offset));
        }
      }
    }

   private:
    const DepthwiseIteratorParams& p_;
    std::int32_t pixel_bytes_, top_, left_;
    std::uint32_t columns_;  // columns of the image; 0 if the channels are outside
    std::uintptr_t at_;
  };

 public:
  // Prefetches to the L2 the input of 8 threads that have the same pixels and 32 channels between
  // them: thread `number`, 0 to 7, asks for one input row. A thread has registers for the loads of
  // kAhead rows, whose arithmetic is shorter than the latency of device memory; a prefetch takes
  // none. Columns and rows that neighbouring threads ask for are left to these.
  class Ahead {
    static constexpr bool kAsks = Src::kChannelRun == 0 || Src::kChannelRun >= 32;

   public:
    // tile: the thread's outputs, with channel 0.
    WEFT_DEVICE Ahead(const DepthwiseIteratorParams& p, const DepthwiseTile& tile, bool inside,
                      int number)
        : reader_(p, DepthwisePlace(p, tile), tile,
                  kAsks && inside && number < kInRows && p.multiplier.divisor() == 1, number) {}
    // Asks for channels 32 k_tile to 32 k_tile + 31, which must exist.
    WEFT_DEVICE void Ask(arch::Thread t, const DepthwiseIteratorParams& p, int k_tile) const {
      if constexpr (kAsks) {
        // All channels of NHWC lie side by side, and those of a block.
        constexpr bool kAll = Src::kChannelRun == 0;
        constexpr int kKTiles = kAll ? 1 : Src::kChannelRun / 32;  // of a block
        static_assert(kAll || Src::kChannelRun % 32 == 0);
        const std::int64_t offset =
            kAll ? std::int64_t{k_tile} * 32
                 : k_tile / kKTiles * p.block_bytes + k_tile % kKTiles * std::int64_t{32};
        reader_.template Prefetch<kColumns * kStride>(t, static_cast<std::uintptr_t>(offset));
      }
    }

   private:
    Reader reader_;
  };

 private:
  WEFT_DEVICE static void LoadFilter(arch::Thread t, const FilterWords* at, bool inside,
                                     Filter& filter) {
    std::uint32_t taps[kWords + 1][4] = {};  // a word of zeros, then the filter row's words
    WEFT_UNROLL
    for (int w = 0; w < kTapWords; ++w) {
      const FilterWords words = LoadDepthwise<PolicyT>(t, at + w, inside);
      WEFT_UNROLL
      for (int c = 0; c < 4; ++c) taps[w + 1][c] = words.word[c];
    }
    WEFT_UNROLL
    for (int w = 0; w < kWords; ++w) {
      WEFT_UNROLL
      for (int c = 0; c < 4; ++c) {
        filter.word[0][w][c] = taps[w + 1][c];
        if constexpr (kShifts > 1) {  // the filter moved by one byte
          filter.word[1][w][c] = t.BytePermute(taps[w][c], taps[w + 1][c], 0x6543);
        }
      }
    }
  }

  // Makes a word of four pixels, for each channel and each even pixel at which a window may begin.
  // Pixels past the last one may have any value, as they meet zeros of the filter.
  WEFT_DEVICE static void MakeWords(arch::Thread t, const DepthwisePlace& place,
                                    const std::uint32_t (&pixels)[kPixels],
                                    std::uint32_t (&word)[kStarts][4]) {
    std::uint32_t pair[kStarts + 1][2];
    WEFT_UNROLL
    for (int s = 0; s <= kStarts; ++s) {
      WEFT_UNROLL
      for (int half = 0; half < 2; ++half) {
        pair[s][half] = 2 * s + 1 < kPixels
                            ? t.BytePermute(pixels[2 * s], pixels[2 * s + 1], place.pair(half))
                        : 2 * s < kPixels ? pixels[2 * s]
                                          : 0u;
      }
    }
    WEFT_UNROLL
    for (int s = 0; s < kStarts; ++s) {
      const bool lone_low = 2 * s + 1 >= kPixels, lone_high = 2 * s + 3 >= kPixels;
      WEFT_UNROLL
      for (int c = 0; c < 4; ++c) {
        const std::uint32_t both = c % 2 == 0 ? 0x10u : 0x32u;  // first or second channel of a pair
        const std::uint32_t low = lone_low ? place.raw(c) : both;
        const std::uint32_t high = lone_high ? place.raw(c) + 4 : both + 0x44u;
        word[s][c] = t.BytePermute(pair[s][c / 2], pair[s + 1][c / 2], low | high << 8);
      }
    }
  }

  // Bytes of 1 where the pixels of word w of a window meet taps, if tap 0 is at byte `shift` of
  // word 0.
  static constexpr std::uint32_t Ones(int w, int shift) {
    std::uint32_t ones = 0;
    for (int b = 0; b < 4; ++b) {
      const int tap = 4 * w + b - shift;
      if (tap >= 0 && tap < kS) ones |= 1u << (8 * b);
    }
    return ones;
  }

  // Adds an input row to the running sums of all columns, for the filter's zero points.
  WEFT_DEVICE static void SumRow(arch::Thread t, const std::uint32_t (&word)[kStarts][4],
                                 DepthwiseFilterZeros<PolicyT>& zeros) {
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      const int start = kStride == 1 ? j / 2 : j, shift = kStride == 1 ? j % 2 : 0;
      WEFT_UNROLL
      for (int w = 0; w < kWords; ++w) {
        WEFT_UNROLL
        for (int c = 0; c < 4; ++c) zeros.See(t, j, c, word[start + 2 * w][c], Ones(w, shift));
      }
    }
  }

  // Multiplies an input row by a filter row. sums: the accumulators of the output row's pixels.
  WEFT_DEVICE static void MultiplyRow(arch::Thread t, const std::uint32_t (&word)[kStarts][4],
                                      const Filter& filter, std::int32_t (*sums)[4]) {
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      // Word s begins at pixel 2 s.
      const int start = kStride == 1 ? j / 2 : j, shift = kStride == 1 ? j % 2 : 0;
      WEFT_UNROLL
      for (int w = 0; w < kWords; ++w) {
        WEFT_UNROLL
        for (int c = 0; c < 4; ++c) {
          sums[j][c] = DepthwiseDot<PolicyT>(t, word[start + 2 * w][c], filter.word[shift][w][c],
                                             sums[j][c]);
        }
      }
    }
  }
};

// Shape 0 of kDepthwiseShapes is any that the others are not.
template <class PolicyT, int kShape>
using DepthwiseWindow = std::conditional_t<kShape == 0, DepthwiseAnyWindow<PolicyT>,
                                           DepthwiseShapeWindow<PolicyT, kShape>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
