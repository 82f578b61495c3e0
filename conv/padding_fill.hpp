// Padding that stands for the zero point of a source, in shared memory.
//
// The copy engine leaves zeros where a source ends. Where its values x stand for x - zx the padding
// is zx, and a warp of the producers writes it over those zeros once a slice has come
// (MbarRing::Fill), ahead of the warps that multiply. Every pixel then sees all taps of the filter:
// what zx takes from its sum is zx times the sum of a channel's filter, the same for all of them, and
// an epilogue has no border.
#pragma once

#include <cstdint>

#include "weft/conv/copied_operands.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/mbar_ring.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Called by a warp. P: of a policy whose padding is filled (kFillsPadding).
//
// Lane l looks after the positions l, l + 32, ... of a copy, of which a word has a bit each: set if
// the position is padding. Where all copies of a block of channels begin at one pixel, a tile has one
// such word; else one for each row of the copies (is it above or below the image?) and one for each
// column, and a copy's is the two of its own.
template <class P, class M>
class PaddingFill {
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };

 public:
  WEFT_DEVICE PaddingFill(const WgmmaParams<P>& p, gemm::FillWords& words)
      : p_(p.padding), a_(p.a), words_(words) {}

  // The slices of `tile` come next.
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread t, const Tile& tile) {
    first_ = static_cast<std::uint32_t>(tile.m) * M::kBlockM;
    if (!Moves()) {
      padding_ = PaddingBy(t, 0, 0);
    } else if (HasWords()) {
      for (int i = 0; i < a_.taps_h + a_.taps_w; ++i) Store(t, i, 0);
      std::uint32_t bit = 1;
      WEFT_NO_UNROLL
      for (int at = t.lane(); at < p_.positions; at += 32, bit <<= 1) {
        const SourcePlace place = PlaceOf(at);
        for (int i = 0; i < a_.taps_h; ++i) {
          if (Outside(place.h + i * a_.step_h, p_.h)) Store(t, i, Load(t, i) | bit);
        }
        for (int i = 0; i < a_.taps_w; ++i) {
          const int column = a_.taps_h + i;
          if (Outside(place.w + i * a_.step_w, p_.w)) Store(t, column, Load(t, column) | bit);
        }
      }
    }
  }

  // Of the slice that has come to the shared address `stage`.
  WEFT_DEVICE void operator()(arch::Thread t, std::uint32_t stage, int slice) const {
    const int count = a_.copies.Count(slice);
    std::int32_t tap = 0, column = 0;
    a_.taps.Divmod(slice * a_.copies.of_slice, tap);
    std::int32_t row = a_.taps_of_row.Divmod(tap, column);
    WEFT_NO_UNROLL
    for (int i = 0; i < count; ++i) {
      std::uint32_t padding = padding_;
      if (Moves()) {
        padding = HasWords() ? Load(t, row) | Load(t, a_.taps_h + column)
                             : PaddingBy(t, row * a_.step_h, column * a_.step_w);
        if (++column == a_.taps_w) {
          column = 0;
          if (++row == a_.taps_h) row = 0;
        }
      }
      std::uint32_t to = stage + static_cast<std::uint32_t>(t.lane() * p_.row_bytes);
      WEFT_NO_UNROLL
      for (; padding != 0; padding >>= 1) {
        if ((padding & 1) != 0) FillRow(t, to);
        to += static_cast<std::uint32_t>(32 * p_.row_bytes);
      }
      stage += static_cast<std::uint32_t>(a_.copy_bytes);
    }
  }

 private:
  // A pixel of the source, which may be none.
  struct SourcePlace {
    std::int32_t h, w;
  };
  WEFT_DEVICE bool Moves() const { return a_.taps.divisor() > 1; }
  WEFT_DEVICE bool HasWords() const { return a_.taps_h + a_.taps_w <= gemm::kFillWords; }
  WEFT_DEVICE std::uint32_t Load(arch::Thread t, int i) const {
    return t.LoadShared(&words_[i][t.lane()]);
  }
  WEFT_DEVICE void Store(arch::Thread t, int i, std::uint32_t word) {
    t.StoreShared(&words_[i][t.lane()], word);
  }

  // That of a position of the tile's first copy.
  WEFT_DEVICE SourcePlace PlaceOf(int position) const {
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(position)), pq);
    const std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    return {p * a_.stride_h - a_.pad_top + a_.first_h, q * a_.stride_w - a_.pad_left + a_.first_w};
  }
  WEFT_DEVICE static bool Outside(std::int32_t at, std::int32_t extent) {
    return static_cast<std::uint32_t>(at) >= static_cast<std::uint32_t>(extent);
  }
  // The lane's positions of a copy whose pixels lie (h, w) from those of the first.
  WEFT_DEVICE std::uint32_t PaddingBy(arch::Thread t, std::int32_t h, std::int32_t w) const {
    std::uint32_t padding = 0, bit = 1;
    WEFT_NO_UNROLL
    for (int at = t.lane(); at < p_.positions; at += 32, bit <<= 1) {
      const SourcePlace place = PlaceOf(at);
      if (Outside(place.h + h, p_.h) || Outside(place.w + w, p_.w)) padding |= bit;
    }
    return padding;
  }
  // A position's row, at its shared address. Rows are as long as their swizzle, which then makes no
  // difference.
  WEFT_DEVICE void FillRow(arch::Thread t, std::uint32_t row) const {
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
  gemm::FillWords& words_;
  std::uint32_t first_ = 0, padding_ = 0;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
