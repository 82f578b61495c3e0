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
  struct alignas(16) Words {
    std::uint32_t word[4];
  };

 public:
  WEFT_DEVICE PaddingFill(arch::Thread t, const WgmmaParams<P>& p, const gemm::FillWords& words)
      : p_(p.padding), a_(p.a), words_(t.SharedAddress(&words)) {}

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
    // Else the compiler makes one for each store.
    Words chunk = {{p_.word, p_.word, p_.word, p_.word}};
    t.KeepInPlace(chunk.word);
    WEFT_NO_UNROLL
    for (int i = 0; i < count; ++i) {
      int row = row_, column = a_.taps_h + column_;
      if (!HasWords()) {
        Tabulate(t, 1, 1, row_ * a_.step_h, column_ * a_.step_w);
        row = 0, column = 1;
      }
      std::uint32_t to = stage + static_cast<std::uint32_t>(t.lane() * p_.row_bytes);
      WEFT_NO_UNROLL
      for (int pass = 0; pass < p_.passes; pass += 4) {
        const Words rows = Load(t, row, pass), columns = Load(t, column, pass);
        WEFT_UNROLL
        for (int j = 0; j < 4; ++j) {
          if (((rows.word[j] | columns.word[j]) >> t.lane() & 1) != 0) FillRow(t, to, chunk);
          to += static_cast<std::uint32_t>(32 * p_.row_bytes);
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
  WEFT_DEVICE bool HasWords() const { return a_.taps_h + a_.taps_w <= gemm::kFillWords; }
  WEFT_DEVICE std::uint32_t WordAt(int i, int pass) const {
    return words_ + static_cast<std::uint32_t>((i * 32 + pass) * 4);
  }
  WEFT_DEVICE Words Load(arch::Thread t, int i, int pass) const {
    return t.template LoadSharedAt<Words>(WordAt(i, pass));
  }

  // Words of `rows` rows of copies from h pixels below the first on, and behind them of `columns`
  // columns from w pixels right of it on.
  WEFT_DEVICE void Tabulate(arch::Thread t, int rows, int columns, std::int32_t h, std::int32_t w) {
    const std::int32_t pitch_w = a_.rows.row_pixels.divisor();
    const std::int32_t pitch_h = p_.pitch_h;
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(t.lane())), pq);
    std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    h += a_.first_h - a_.pad_top, w += a_.first_w - a_.pad_left;
    t.SyncWarp();  // the words of another tile have been read
    WEFT_NO_UNROLL
    for (int pass = 0; pass < p_.passes; ++pass) {
      const bool exists = t.lane() + 32 * pass < p_.positions;
      std::int32_t at = p * a_.stride_h + h;
      WEFT_NO_UNROLL
      for (int i = 0; i < rows; ++i, at += a_.step_h)
        Store(t, i, pass, exists && Outside(at, p_.h));
      at = q * a_.stride_w + w;
      WEFT_NO_UNROLL
      for (int i = 0; i < columns; ++i, at += a_.step_w) {
        Store(t, rows + i, pass, exists && Outside(at, p_.w));
      }
      q += p_.pass_q;
      p += p_.pass_p;
      if (q >= pitch_w) q -= pitch_w, ++p;
      if (p >= pitch_h) p -= pitch_h;
    }
    t.SyncWarp();
  }
  WEFT_DEVICE void Store(arch::Thread t, int i, int pass, bool outside) {
    const std::uint32_t lanes = t.Ballot(outside);
    if (t.lane() == 0) t.StoreSharedAt(WordAt(i, pass), lanes);
  }
  WEFT_DEVICE static bool Outside(std::int32_t at, std::int32_t extent) {
    return static_cast<std::uint32_t>(at) >= static_cast<std::uint32_t>(extent);
  }

  // A position's row, at its shared address. Rows are as long as their swizzle, which then makes no
  // difference.
  WEFT_DEVICE void FillRow(arch::Thread t, std::uint32_t row, const Words& chunk) const {
    t.StoreSharedAt(row, chunk);
    t.StoreSharedAt(row + 16, chunk);
    if constexpr (CheckedPolicy<P>::kNhwc) {
      WEFT_NO_UNROLL
      for (int i = 32; i < p_.row_bytes; i += 16) t.StoreSharedAt(row + i, chunk);
    }
  }

  const PaddingParams& p_;
  const SourceCopies& a_;
  std::uint32_t words_;                // where FillWords begin
  std::uint32_t first_ = 0;            // position of the tile
  std::int32_t row_ = 0, column_ = 0;  // of the next copy
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
