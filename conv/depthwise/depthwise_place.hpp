// Where in the source the four output channels of a depthwise thread have their channels, and the
// selectors that make words of one channel of it (depthwise_window.hpp).
#pragma once

#include <cstdint>

#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand/operand.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Which channels of the source a thread's four output channels see.
class DepthwisePlace {
 public:
  WEFT_DEVICE DepthwisePlace(const DepthwiseIteratorParams& p, const DepthwiseTile& tile)
      : word_(tile.k / 4), raw_{0, 1, 2, 3}, pair_{0x5140, 0x7362} {
    if (p.multiplier.divisor() == 1) return;  // nothing to divide
    std::int32_t first = 0;
    word_ = p.multiplier.Divmod(word_, first);
    WEFT_UNROLL
    for (int j = 0; j < 4; ++j) {
      raw_[j] = static_cast<std::uint32_t>(p.multiplier.Divide(4 * first + j));
    }
    // Bytes 0 to 3 of BytePermute's operands are the first pixel's, 4 to 7 the second's.
    WEFT_UNROLL
    for (int half = 0; half < 2; ++half) {
      pair_[half] = raw_[2 * half] * 0x11 + raw_[2 * half + 1] * 0x1100 + 0x4040;
    }
  }

  // The address in image n of the source's word of 4 channels.
  template <class Src>
  WEFT_DEVICE std::uintptr_t Address(const DepthwiseIteratorParams& p, std::int32_t n) const {
    std::int64_t offset = n * p.image_bytes;
    if constexpr (Src::kChannelRun == 0) {  // all channels of a pixel are side by side
      offset += 4 * word_;
    } else {
      static_assert(Src::kChannelRun % 4 == 0);
      constexpr int kWords = Src::kChannelRun / 4;  // words of a pixel side by side
      offset += word_ / kWords * p.block_bytes + word_ % kWords * 4;
    }
    return reinterpret_cast<std::uintptr_t>(p.src) + static_cast<std::uintptr_t>(offset);
  }
  // Selectors of BytePermute that make a pair of two pixels: half 0 of channels 0 and 1, half 1 of
  // channels 2 and 3.
  WEFT_DEVICE std::uint32_t pair(int half) const { return pair_[half]; }
  // The byte of a pixel that channel j sees.
  WEFT_DEVICE std::uint32_t raw(int j) const { return raw_[j]; }

 private:
  std::int32_t word_;
  std::uint32_t raw_[4], pair_[2];
};

// Four taps of a filter row for each of 4 channels.
using FilterWords = gemm::Piece<16>;

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
