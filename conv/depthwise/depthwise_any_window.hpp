// The products of a depthwise kernel for any filter, stride and dilation: the four pixels of each
// dp4a are loaded one by one, whatever the distance between them. depthwise_window.hpp says what is
// made of them.
#pragma once

#include <cstdint>

#include "weft/conv/depthwise/depthwise_filter_zeros.hpp"
#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/conv/depthwise/depthwise_place.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// PolicyT: a conv::Policy with a DepthwiseConfig.
template <class PolicyT>
class DepthwiseAnyWindow {
  static constexpr int kColumns = DepthwiseConfig::kColumns;
  using Src = typename PolicyT::SrcLayout;

 public:
  static constexpr int kRows = 1;
  static constexpr bool kSmall = false;
  using Accumulators = std::int32_t[kColumns][4];

  // As DepthwiseShapeWindow::Multiply.
  template <class Finish>
  WEFT_DEVICE static void Multiply(arch::Thread t, const DepthwiseIteratorParams& p,
                                   const DepthwiseTile& tile, bool channels_inside,
                                   DepthwiseFilterZeros<PolicyT>& zeros, Accumulators& acc,
                                   const Finish& finish) {
    const DepthwisePlace place(p, tile);
    const int tap_words = gemm::CeilDiv(p.s, 4);
    const auto* filter = static_cast<const FilterWords*>(p.filter) +
                         static_cast<std::int64_t>(tile.k / 4) * p.r * tap_words;
    const auto image = place.template Address<Src>(p, tile.n);
    const std::int32_t top = tile.p * p.stride_h + p.base_h;
    WEFT_NO_UNROLL
    for (int r = 0; r < p.r; ++r) {
      const std::int32_t h = top + r * p.step_h;
      const bool row_inside = channels_inside && h >= 0 && h < p.h;
      const auto row = image + static_cast<std::uintptr_t>(h * p.row_bytes);
      WEFT_NO_UNROLL
      for (int tap = 0; tap < p.s; tap += 4) {
        const FilterWords words = LoadDepthwise<PolicyT>(t, filter++, channels_inside);
        WEFT_UNROLL
        for (int j = 0; j < kColumns; ++j) {
          // The offset of a column past the output's last might not fit in 32 bits.
          const bool wanted = row_inside && tile.q + j < p.q;
          const std::int32_t left = wanted ? (tile.q + j) * p.stride_w + p.base_w : 0;
          std::uint32_t pixels[4];
          WEFT_UNROLL
          for (int e = 0; e < 4; ++e) {
            const bool is_tap = wanted && tap + e < p.s;
            const std::int32_t w = left + (is_tap ? (tap + e) * p.step_w : 0);
            const auto at =
                row + static_cast<std::uintptr_t>(static_cast<std::int64_t>(w) * p.pixel_bytes);
            pixels[e] = LoadDepthwise<PolicyT>(t, reinterpret_cast<const std::uint32_t*>(at),
                                               is_tap && w >= 0 && w < p.w);
          }
          WEFT_UNROLL
          for (int half = 0; half < 2; ++half) {
            const std::uint32_t low = t.BytePermute(pixels[0], pixels[1], place.pair(half));
            const std::uint32_t high = t.BytePermute(pixels[2], pixels[3], place.pair(half));
            std::int32_t (&sum)[4] = acc[j];
            const int c = 2 * half;
            const std::uint32_t first = t.BytePermute(low, high, 0x5410);
            const std::uint32_t second = t.BytePermute(low, high, 0x7632);
            sum[c] = DepthwiseDot<PolicyT>(t, first, words.word[c], sum[c]);
            sum[c + 1] = DepthwiseDot<PolicyT>(t, second, words.word[c + 1], sum[c + 1]);
            constexpr std::uint32_t kOnes = 0x01010101;  // pixels that meet no tap are 0
            zeros.See(t, j, c, first, kOnes);
            zeros.See(t, j, c + 1, second, kOnes);
          }
        }
      }
    }
    zeros.End(acc);
    finish(0);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
