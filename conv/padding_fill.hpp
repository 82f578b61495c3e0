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
// A copy's positions are passes of 32, one to a lane, and a shared word for each pass says which of them are
// padding. Those of all copies of a block of channels are worked out once a tile, if they are no more than
// there is room for.
template <class P, class M>
class PaddingFill {
 public:
  WEFT_DEVICE PaddingFill(arch::Thread t, const WgmmaParams<P>& p, const gemm::FillWords& words)
      : p_(p.padding), a_(p.a), words_(t.SharedAddress(&words)) {
    // Through memory: ptxas would make four words of one again for each store.
    const std::uint32_t last = WordAt(gemm::kFillWords);
    if (t.lane() < 4) t.StoreSharedAt(last + static_cast<std::uint32_t>(4 * t.lane()), p_.word);
    t.SyncWarp();
    chunk_ = t.template LoadSharedAt<Chunk>(last);
  }

  WEFT_DEVICE static bool HasWork(const WgmmaParams<P>& p) { return p.padding.positions > 0; }

  // The slices of `tile` come next, from `slice` on.
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread t, const Tile& tile, int slice) {
    first_ = static_cast<std::uint32_t>(tile.m) * M::kBlockM;
    a_.taps.Divmod(slice * a_.copies.of_slice, copy_);
    if (HasRoom()) {
      Tabulate(t, 0, a_.taps.divisor());
      at_ = copy_ * p_.passes.divisor();
      next_ = Load(t);
    }
  }

  // Of the next slice, which has come to the shared address `stage`.
  WEFT_DEVICE void operator()(arch::Thread t, std::uint32_t stage, int slice) {
    const int passes = p_.passes.divisor();
    const int words = HasRoom() ? passes * a_.taps.divisor() : passes;
    stage += static_cast<std::uint32_t>(t.lane() * RowBytes());
    WEFT_NO_UNROLL
    for (int left = a_.copies.Count(slice); left > 0; --left) {
      if (!HasRoom()) {
        Tabulate(t, copy_, 1);
        if (++copy_ == a_.taps.divisor()) copy_ = 0;
        at_ = 0;
        next_ = Load(t);
      }
      std::uint32_t to = stage;
      WEFT_NO_UNROLL
      for (int pass = 0; pass < passes; pass += 2, to += 64 * RowBytes()) {
        const Pair padding = next_;
        at_ = at_ + 2 == words ? 0 : at_ + 2;
        next_ = Load(t);  // comes while these are looked at
        WEFT_UNROLL
        for (int j = 0; j < 2; ++j) {
          if ((padding.word[j] >> t.lane() & 1) != 0) FillRow(t, to + j * 32 * RowBytes());
        }
      }
      stage += static_cast<std::uint32_t>(a_.copy_bytes);
    }
  }

 private:
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };
  struct alignas(8) Pair {
    std::uint32_t word[2];
  };

  WEFT_DEVICE bool HasRoom() const {
    return a_.taps.divisor() * p_.passes.divisor() <= gemm::kFillWords;
  }
  WEFT_DEVICE std::uint32_t RowBytes() const {
    if constexpr (CheckedPolicy<P>::kNhwc) {
      return static_cast<std::uint32_t>(p_.row_bytes);
    } else {
      return 32;
    }
  }
  WEFT_DEVICE std::uint32_t WordAt(int i) const {
    return words_ + static_cast<std::uint32_t>(4 * i);
  }
  WEFT_DEVICE Pair Load(arch::Thread t) const { return t.template LoadSharedAt<Pair>(WordAt(at_)); }

  // The words of `count` copies from number `copy` on; a lane works out some of them by itself.
  WEFT_DEVICE void Tabulate(arch::Thread t, int copy, int count) {
    t.SyncWarp();  // the words of another tile have been read
    WEFT_NO_UNROLL
    for (int v = t.lane(); v < count * p_.passes.divisor(); v += 32) {
      std::int32_t pass, column;
      const int row = a_.taps_of_row.Divmod(copy + p_.passes.Divmod(v, pass), column);
      const Range rows = Inside(row * a_.step_h + a_.first_h - a_.pad_top, p_.h, p_.stride_h);
      const Range columns =
          Inside(column * a_.step_w + a_.first_w - a_.pad_left, p_.w, p_.stride_w);
      t.StoreSharedAt(WordAt(v), WordOf(pass, rows, columns));
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

  // The positions of a pass that are not in these rows and columns of the walk: one of its rows after the
  // other.
  WEFT_DEVICE std::uint32_t WordOf(int pass, const Range& rows, const Range& columns) const {
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(32 * pass)), pq);
    std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    const std::int32_t left = p_.positions - 32 * pass, end = left < 32 ? left : 32;
    std::uint32_t word = 0;
    WEFT_NO_UNROLL
    for (std::int32_t at = -q; at < end; at += a_.rows.row_pixels.divisor()) {
      // The row's column c is bit at + c.
      const std::int32_t next = at + a_.rows.row_pixels.divisor();
      std::uint32_t row = Below(next < end ? next : end) & ~Below(at);
      if (p >= rows.begin && p < rows.end) {
        row &= ~(Below(at + columns.end) & ~Below(at + columns.begin));
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
  std::uint32_t words_;      // where FillWords begin
  Chunk chunk_;              // what padding is full of
  std::uint32_t first_ = 0;  // position of the tile
  std::int32_t copy_ = 0;    // the next, where there is no room for all
  std::int32_t at_ = 0;      // a word of the next pass, and what it is
  Pair next_ = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
