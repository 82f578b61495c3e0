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
// A copy's positions are passes of 32, one to a lane. Shared words say, for each row of the copies of a block
// of channels, which positions of each pass lie above or below the image, and likewise for each column;
// they are worked out once a tile, unless there are more rows and columns than words.
template <class P, class M>
class PaddingFill {
 public:
  WEFT_DEVICE PaddingFill(arch::Thread t, const WgmmaParams<P>& p, const gemm::FillWords& words)
      : p_(p.padding), a_(p.a), words_(t.SharedAddress(&words)) {
    // Through memory: ptxas would make four words of one again for each store.
    const std::uint32_t last = WordAt(gemm::kFillWords, 0);
    if (t.lane() < 4) t.StoreSharedAt(last + static_cast<std::uint32_t>(4 * t.lane()), p_.word);
    t.SyncWarp();
    chunk_ = t.template LoadSharedAt<Chunk>(last);
  }

  // The slices of `tile` come next, from `slice` on.
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread t, const Tile& tile, int slice) {
    first_ = static_cast<std::uint32_t>(tile.m) * M::kBlockM;
    std::int32_t tap = 0;
    a_.taps.Divmod(slice * a_.copies.of_slice, tap);
    row_ = a_.taps_of_row.Divmod(tap, column_);
    if (HasWords()) Tabulate(t, a_.taps_h, a_.taps_w, 0, 0);
  }

  // Of the next slice, which has come to the shared address `stage`.
  WEFT_DEVICE void operator()(arch::Thread t, std::uint32_t stage, int slice) {
    const int count = a_.copies.Count(slice);
    stage += static_cast<std::uint32_t>(t.lane() * RowBytes());
    WEFT_NO_UNROLL
    for (int i = 0; i < count; ++i) {
      int row = row_, column = a_.taps_h + column_;
      if (!HasWords()) {
        Tabulate(t, 1, 1, row_ * a_.step_h, column_ * a_.step_w);
        row = 0, column = 1;
      }
      std::uint32_t to = stage;
      WEFT_NO_UNROLL
      for (int pass = 0; pass < p_.passes.divisor(); pass += 2, to += 64 * RowBytes()) {
        const Pair rows = Load(t, row, pass), columns = Load(t, column, pass);
        WEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
          const bool padding = ((rows.word[j] | columns.word[j]) >> t.lane() & 1) != 0;
          if (padding) FillRow(t, to + j * 32 * RowBytes());
        }
      }
      stage += static_cast<std::uint32_t>(a_.copy_bytes);
      if (++column_ == a_.taps_w) {
        column_ = 0;
        if (++row_ == a_.taps_h) row_ = 0;
      }
    }
  }

 private:
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };
  struct alignas(8) Pair {
    std::uint32_t word[2];
  };

  WEFT_DEVICE bool HasWords() const { return a_.taps_h + a_.taps_w <= gemm::kFillWords; }
  WEFT_DEVICE std::uint32_t RowBytes() const {
    if constexpr (CheckedPolicy<P>::kNhwc) {
      return static_cast<std::uint32_t>(p_.row_bytes);
    } else {
      return 32;
    }
  }
  WEFT_DEVICE std::uint32_t WordAt(int i, int pass) const {
    return words_ + static_cast<std::uint32_t>((i * 32 + pass) * 4);
  }
  WEFT_DEVICE Pair Load(arch::Thread t, int i, int pass) const {
    return t.template LoadSharedAt<Pair>(WordAt(i, pass));
  }

  // Words of `rows` rows of copies from h pixels below the first on, and behind them of `columns`
  // columns from w pixels right of it on; a lane works out some of the words, by itself.
  WEFT_DEVICE void Tabulate(arch::Thread t, int rows, int columns, std::int32_t h, std::int32_t w) {
    h += a_.first_h - a_.pad_top, w += a_.first_w - a_.pad_left;
    t.SyncWarp();  // the words of another tile have been read
    const int words = (rows + columns) * p_.passes.divisor();
    WEFT_NO_UNROLL
    for (int v = t.lane(); v < words; v += 32) {
      std::int32_t pass;
      const int i = p_.passes.Divmod(v, pass);
      const std::uint32_t word =
          i < rows ? WordOf<true>(pass, Inside(h + i * a_.step_h, p_.h, p_.stride_h))
                   : WordOf<false>(pass, Inside(w + (i - rows) * a_.step_w, p_.w, p_.stride_w));
      t.StoreSharedAt(WordAt(i, pass), word);
    }
    t.SyncWarp();
  }

  // From `begin` on and below `end`.
  struct Range {
    std::int32_t begin, end;
  };
  // Rows (columns) of the walk whose row (column) of the source, `from` + stride * its number, is one of
  // `extent`.
  WEFT_DEVICE static Range Inside(std::int32_t from, std::int32_t extent,
                                  const gemm::FastDivmod& stride) {
    const std::int32_t up = stride.divisor() - 1;
    return {from < 0 ? stride.Divide(up - from) : 0,
            extent > from ? stride.Divide(extent - from + up) : 0};
  }

  // The positions of a pass whose row (column) is not `inside`: a row of the walk after the other.
  template <bool kRows>
  WEFT_DEVICE std::uint32_t WordOf(int pass, const Range& inside) const {
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(32 * pass)), pq);
    std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    const std::int32_t left = p_.positions - 32 * pass, end = left < 32 ? left : 32;
    std::uint32_t word = 0;
    WEFT_NO_UNROLL
    for (std::int32_t at = 0; at < end; at += a_.rows.row_pixels.divisor() - q, q = 0) {
      // Bit b is column b - at + q.
      const std::int32_t next = at + a_.rows.row_pixels.divisor() - q;
      std::uint32_t row = Below(next < end ? next : end) & ~Below(at);
      if constexpr (kRows) {
        if (p >= inside.begin && p < inside.end) row = 0;
      } else {
        row &= ~(Below(inside.end + at - q) & ~Below(inside.begin + at - q));
      }
      word |= row;
      if (++p == p_.pitch_h) p = 0;
    }
    return word;
  }
  // Bits 0 to n - 1.
  WEFT_DEVICE static std::uint32_t Below(std::int32_t n) {
    return n <= 0 ? 0 : n >= 32 ? ~0u : (1u << n) - 1;
  }

  // A position's row, at its shared address. Rows are as long as their swizzle, which then makes no
  // difference.
  WEFT_DEVICE void FillRow(arch::Thread t, std::uint32_t row) const {
    t.StoreSharedAt(row, chunk_);
    t.StoreSharedAt(row + 16, chunk_);
    if constexpr (CheckedPolicy<P>::kNhwc) {
      WEFT_NO_UNROLL
      for (std::uint32_t i = 32; i < RowBytes(); i += 16) t.StoreSharedAt(row + i, chunk_);
    }
  }

  const PaddingParams& p_;
  const SourceCopies& a_;
  std::uint32_t words_;                // where FillWords begin
  Chunk chunk_;                        // what padding is full of
  std::uint32_t first_ = 0;            // position of the tile
  std::int32_t row_ = 0, column_ = 0;  // of the next copy
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
