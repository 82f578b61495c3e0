// Padding that stands for the zero point of a source, in shared memory.
//
// The copy engine leaves zeros where a source ends. Where its values x stand for x - zx the padding
// is zx, and is written over those zeros once a slice has come, before its products. Every pixel
// then sees all taps of the filter: what zx takes from its sum is zx times the sum of a channel's
// filter, the same for all of them, and an epilogue has no border.
#pragma once

#include <cstdint>

#include "weft/conv/copied_operands.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// By the threads that multiply, M's. P: of a policy whose padding is filled (kFillsPadding).
template <class P, class M>
class PaddingFill {
  // A copy has few positions more than a tile: so many of a thread are worked out once a tile, ahead
  // of its products; those of wide patches again for each slice.
  static constexpr int kAhead = (M::kBlockM + M::kThreads - 1) / M::kThreads + 1;
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };

 public:
  WEFT_DEVICE explicit PaddingFill(const WgmmaParams<P>& p) : p_(p.padding), a_(p.a) {}

  // The slices of `tile` come next.
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread t, const Tile& tile) {
    first_ = static_cast<std::uint32_t>(tile.m) * M::kBlockM;
    if (p_.positions == 0) return;
    WEFT_UNROLL
    for (int j = 0; j < kAhead; ++j) ahead_[j] = PlaceOf(t.tid() + j * M::kThreads);
  }

  // Of the slice that has come to the shared address `stage`: by all threads that multiply, at once.
  WEFT_DEVICE void operator()(arch::Thread t, std::uint32_t stage, int slice) const {
    if (p_.positions == 0) return;
    const int count = a_.copies.Count(slice);
    WEFT_NO_UNROLL
    for (int i = 0; i < count; ++i) {
      std::int32_t tap, column;
      a_.taps.Divmod(slice * a_.copies.of_slice + i, tap);
      const std::int32_t row = a_.taps_of_row.Divmod(tap, column);
      const std::int32_t h = a_.first_h + row * a_.step_h, w = a_.first_w + column * a_.step_w;
      const std::uint32_t copy = stage + static_cast<std::uint32_t>(i * a_.copy_bytes);
      WEFT_UNROLL
      for (int j = 0; j < kAhead; ++j) {
        Fill(t, copy, t.tid() + j * M::kThreads, ahead_[j], h, w);
      }
      WEFT_NO_UNROLL
      for (int at = t.tid() + kAhead * M::kThreads; at < p_.positions; at += M::kThreads) {
        Fill(t, copy, at, PlaceOf(at), h, w);
      }
    }
    t.FenceProxyAsync();
    t.BarSync(1 + M::kGroups, M::kThreads);
  }

 private:
  // A pixel of the source, which may be none.
  struct SourcePlace {
    std::int32_t h, w;
  };
  // That of a position of the tile's copies and of the walk's corner.
  WEFT_DEVICE SourcePlace PlaceOf(int position) const {
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(position)), pq);
    const std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    return {p * a_.stride_h - a_.pad_top, q * a_.stride_w - a_.pad_left};
  }
  // h, w: from the walk's corner to where the copy begins.
  WEFT_DEVICE void Fill(arch::Thread t, std::uint32_t copy, int position, const SourcePlace& at,
                        std::int32_t h, std::int32_t w) const {
    const bool outside = static_cast<std::uint32_t>(at.h + h) >= static_cast<std::uint32_t>(p_.h) ||
                         static_cast<std::uint32_t>(at.w + w) >= static_cast<std::uint32_t>(p_.w);
    if (!outside || position >= p_.positions) return;
    // Rows are as long as their swizzle, which then makes no difference.
    const std::uint32_t to = copy + static_cast<std::uint32_t>(position * p_.row_bytes);
    const Chunk chunk = {{p_.word, p_.word, p_.word, p_.word}};
    t.StoreSharedAt(to, chunk);
    t.StoreSharedAt(to + 16, chunk);
    if constexpr (CheckedPolicy<P>::kNhwc) {
      WEFT_NO_UNROLL
      for (int i = 32; i < p_.row_bytes; i += 16) t.StoreSharedAt(to + i, chunk);
    }
  }

  const PaddingParams& p_;
  const SourceCopies& a_;
  std::uint32_t first_ = 0;
  SourcePlace ahead_[kAhead] = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
