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
    for (int j = 0; j < kAhead; ++j) {
      const int position = t.tid() + j * M::kThreads;
      place_[j] = PlaceOf(position);
      padded_[j] = IsPadding(position, place_[j], {0, 0}) ? position * p_.row_bytes : -1;
    }
  }

  // Of the slice that has come to the shared address `stage`: by all threads that multiply, at once.
  WEFT_DEVICE void operator()(arch::Thread t, std::uint32_t stage, int slice) const {
    if (p_.positions == 0) return;
    const bool moves = a_.taps.divisor() > 1;
    const int count = a_.copies.Count(slice);
    WEFT_NO_UNROLL
    for (int i = 0; i < count; ++i) {
      SourcePlace by = {0, 0};
      if (moves) {
        std::int32_t tap, column;
        a_.taps.Divmod(slice * a_.copies.of_slice + i, tap);
        by.h = a_.taps_of_row.Divmod(tap, column) * a_.step_h;
        by.w = column * a_.step_w;
        WEFT_UNROLL
        for (int j = 0; j < kAhead; ++j) {
          const int position = t.tid() + j * M::kThreads;
          if (IsPadding(position, place_[j], by)) Fill(t, stage + position * p_.row_bytes);
        }
      } else {
        WEFT_UNROLL
        for (int j = 0; j < kAhead; ++j) {
          if (padded_[j] >= 0) Fill(t, stage + padded_[j]);
        }
      }
      WEFT_NO_UNROLL
      for (int at = t.tid() + kAhead * M::kThreads; at < p_.positions; at += M::kThreads) {
        if (IsPadding(at, PlaceOf(at), by)) Fill(t, stage + at * p_.row_bytes);
      }
      stage += static_cast<std::uint32_t>(a_.copy_bytes);
    }
    t.FenceProxyAsync();
    t.BarSync(1 + M::kGroups, M::kThreads);
  }

 private:
  // A pixel of the source, which may be none; or from one to another.
  struct SourcePlace {
    std::int32_t h, w;
  };
  // That of a position of the tile's first copy.
  WEFT_DEVICE SourcePlace PlaceOf(int position) const {
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(position)), pq);
    const std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    return {p * a_.stride_h - a_.pad_top + a_.first_h, q * a_.stride_w - a_.pad_left + a_.first_w};
  }
  // Of a copy whose pixels lie `by` from the first one's.
  WEFT_DEVICE bool IsPadding(int position, const SourcePlace& at, const SourcePlace& by) const {
    // Without branches.
    const bool inside =
        (static_cast<std::uint32_t>(at.h + by.h) < static_cast<std::uint32_t>(p_.h)) &
        (static_cast<std::uint32_t>(at.w + by.w) < static_cast<std::uint32_t>(p_.w));
    return !inside & (position < p_.positions);
  }
  // A position's row, at its shared address. Rows are as long as their swizzle, which then makes no
  // difference.
  WEFT_DEVICE void Fill(arch::Thread t, std::uint32_t row) const {
    const Chunk chunk = {{p_.word, p_.word, p_.word, p_.word}};
    t.StoreSharedAt(row, chunk);
    t.StoreSharedAt(row + 16, chunk);
    if constexpr (CheckedPolicy<P>::kNhwc) {
      WEFT_NO_UNROLL
      for (int i = 32; i < p_.row_bytes; i += 16) t.StoreSharedAt(row + i, chunk);
    }
  }

  const PaddingParams& p_;
  const SourceCopies& a_;
  std::uint32_t first_ = 0;
  SourcePlace place_[kAhead] = {};
  std::int32_t padded_[kAhead] = {};  // where the first copy's padding begins; -1: there is none
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
