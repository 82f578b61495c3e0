// The stage transform of a source with a zero point: it writes the zero point over the padding.
//
// TMA writes zeros where a source ends. Where the source's values x stand for x - zx, the padding
// must be zx, and a transform warp writes that over those zeros once TMA has written a k tile
// (MbarRing::Transform), before the consumer warps multiply it. Every pixel then sees all taps of
// the filter: what zx takes from its sum is zx times the sum of a channel's filter, the same for
// all pixels, and the epilogue has no border.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/mbar_ring.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// One warp runs it, for a policy with kTransformsPadding.
//
// Once for each tile the warp lists the positions that are padding, copy after copy, for as many
// copies as lie between the first tap and the last copy of any k tile; so the entries of each k
// tile follow each other in the list. A lane reads its entries while TMA still loads the k tile:
// when that has come, only the stores are left to do. Where a tile's list does not fit in shared
// memory, the warp works out the positions anew for each k tile.
template <class PolicyT, class Mma>
class PaddingTransform {
 public:
  WEFT_DEVICE PaddingTransform(arch::Thread t, const WgmmaParams<PolicyT>& p,
                               const gemm::TransformMemory& memory)
      : p_(p.padding), a_(p.a), list_(t.SharedAddress(memory.list)) {
    // The four words go through shared memory: given one word, ptxas would make four of it again
    // before each 16-byte store.
    const std::uint32_t words = t.SharedAddress(memory.word);
    if (t.lane() < 4) {
      t.StoreSharedAt(words + static_cast<std::uint32_t>(4 * t.lane()), p_.word);
    }
    t.SyncWarp();
    chunk_ = t.template LoadSharedAt<Chunk>(words);
  }

  WEFT_DEVICE static bool HasWork(const WgmmaParams<PolicyT>& p) { return p.padding.positions > 0; }

  // Starts on `tile` and lists its padding; Prepare is called for `k_tile` next.
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread t, const Tile& tile, int k_tile) {
    first_ = static_cast<std::uint32_t>(tile.m) * Mma::kBlockM;
    a_.taps.Divmod(k_tile * a_.copies.of_k_tile, copy_);
    List(t);
  }

  // Reads this lane's entries for the next k tile, while TMA loads it. Returns whether that has
  // padding, the same for all lanes.
  WEFT_DEVICE bool Prepare(arch::Thread t, int k_tile) {
    count_ = a_.copies.Count(k_tile);
    from_ = copy_;
    a_.taps.Divmod(from_ + count_, copy_);
    if (!listed_) return true;
    const std::int32_t begin = Entry(t, from_), end = Entry(t, from_ + count_);
    // Lanes side by side write the 16-byte pieces of one row; a warp writes Step() rows at once.
    at_ = RowsAt() + begin + (t.lane() >> PieceLog2());
    left_ = RowsAt() + end - at_;
    WEFT_UNROLL
    for (int j = 0; j < kAhead; ++j) {
      if (j * Step() < left_) ahead_[j] = Entry(t, at_ + j * Step());
    }
    return begin < end;
  }

  // Writes the zero point over the padding of the k tile of the last Prepare, which TMA has written
  // at the shared address `stage`.
  WEFT_DEVICE void Transform(arch::Thread t, std::uint32_t stage) {
    if (!listed_) return TransformUnlisted(t, stage);
    stage += static_cast<std::uint32_t>(16 * (t.lane() & ((1 << PieceLog2()) - 1)) -
                                        (from_ * p_.positions << RowLog2()));
    const auto store = [&](std::int32_t row) {
      t.StoreSharedAt(stage + static_cast<std::uint32_t>(row << RowLog2()), chunk_);
    };
    WEFT_UNROLL
    for (int j = 0; j < kAhead; ++j) {
      if (j * Step() < left_) store(ahead_[j]);
    }
    WEFT_NO_UNROLL
    for (int i = kAhead * Step(); i < left_; i += Step()) store(Entry(t, at_ + i));
  }

 private:
  static constexpr int kAhead = 6;  // entries that a lane reads early: 96 rows of 32 bytes a warp
  struct alignas(16) Chunk {
    std::uint32_t word[4];
  };

  WEFT_DEVICE int RowLog2() const {
    if constexpr (CheckedPolicy<PolicyT>::kNhwc) {
      return p_.row_log2;
    } else {
      return 5;
    }
  }
  WEFT_DEVICE int PieceLog2() const { return RowLog2() - 4; }
  WEFT_DEVICE int Step() const { return 32 >> PieceLog2(); }

  // The list is of uint16. Entry i says where among the rows those of copy i begin, entry `copies`
  // where the last copy's end. After these the rows themselves follow, as positions that are
  // counted from the first copy's.
  WEFT_DEVICE std::int32_t RowsAt() const { return p_.copies + 1; }
  WEFT_DEVICE std::uint32_t AddressOf(std::int32_t i) const {
    return list_ + static_cast<std::uint32_t>(2 * i);
  }
  WEFT_DEVICE std::int32_t Entry(arch::Thread t, std::int32_t i) const {
    return t.template LoadSharedAt<std::uint16_t>(AddressOf(i));
  }
  WEFT_DEVICE void SetEntry(arch::Thread t, std::int32_t i, std::int32_t value) const {
    t.StoreSharedAt(AddressOf(i), static_cast<std::uint16_t>(value));
  }

  // Calls use(copy, pass, word) for `count` copies from number `copy` on. A pass is 32 positions of
  // a copy; a bit of its word is 1 where the position is padding. Each lane works out the word of a
  // pass of its own; all lanes call `use` together, with a word of 0 where a lane has no pass.
  template <class UseFunction>
  WEFT_DEVICE void ForEachWord(arch::Thread t, std::int32_t copy, std::int32_t count,
                               const UseFunction& use) const {
    const std::int32_t all = count * p_.passes.divisor();
    WEFT_NO_UNROLL
    for (std::int32_t i = 0; i < all; i += 32) {
      std::int32_t pass = 0, column;
      std::uint32_t word = 0;
      std::int32_t number = copy;
      if (i + t.lane() < all) {
        number += p_.passes.Divmod(i + t.lane(), pass);
        std::int32_t tap;
        a_.taps.Divmod(number, tap);
        const std::int32_t row = a_.taps_of_row.Divmod(tap, column);
        const Range rows = Inside(row * a_.step_h + a_.first_h - a_.pad_top, p_.h, p_.stride_h);
        const Range columns =
            Inside(column * a_.step_w + a_.first_w - a_.pad_left, p_.w, p_.stride_w);
        word = WordOf(pass, rows, columns);
      } else {
        pass = -1;
      }
      use(number, pass, word);
    }
  }

  WEFT_DEVICE void List(arch::Thread t) {
    const std::int32_t room = gemm::kTransformList - RowsAt();
    listed_ = room > 0 && p_.copies <= 65536 / p_.positions;
    if (!listed_) return;
    std::int32_t total = 0;
    t.SyncWarp();  // until all lanes have read the list of the tile before
    ForEachWord(t, 0, p_.copies, [&](std::int32_t copy, std::int32_t pass, std::uint32_t word) {
      // Each lane has 0 to 32 rows. Their prefix sum over the warp takes a ballot for each of 6
      // bits.
      const int own = std::popcount(word);
      const std::uint32_t lanes_below = (1u << t.lane()) - 1;
      std::int32_t before = 0, all = 0;
      WEFT_UNROLL
      for (int bit = 0; bit < 6; ++bit) {
        const std::uint32_t lanes = t.Ballot((own >> bit & 1) != 0);
        before += std::popcount(lanes & lanes_below) << bit;
        all += std::popcount(lanes) << bit;
      }
      before += total;
      total += all;
      if (total > room) return;
      if (pass == 0) SetEntry(t, copy, before);
      const std::int32_t first = copy * p_.positions + 32 * pass;
      WEFT_NO_UNROLL
      for (std::int32_t i = RowsAt() + before; word != 0; word &= word - 1, ++i) {
        SetEntry(t, i, first + LowestBit(word));
      }
    });
    listed_ = total <= room;
    if (listed_ && t.lane() == 0) SetEntry(t, p_.copies, total);
    t.SyncWarp();
  }

  // Writes a k tile's padding without a list. Each lane stores to the positions that it has worked
  // out itself.
  WEFT_DEVICE void TransformUnlisted(arch::Thread t, std::uint32_t stage) const {
    std::int32_t copy = from_;
    WEFT_NO_UNROLL
    for (int left = count_; left > 0; --left) {
      ForEachWord(t, copy, 1, [&](std::int32_t, std::int32_t pass, std::uint32_t word) {
        WEFT_NO_UNROLL
        for (; word != 0; word &= word - 1) {
          const std::uint32_t row =
              stage + (static_cast<std::uint32_t>(32 * pass + LowestBit(word)) << RowLog2());
          WEFT_NO_UNROLL
          for (std::uint32_t i = 0; i < 1u << RowLog2(); i += 16) t.StoreSharedAt(row + i, chunk_);
        }
      });
      stage += static_cast<std::uint32_t>(a_.copy_bytes);
      if (++copy == a_.taps.divisor()) copy = 0;
    }
  }

  WEFT_DEVICE static int LowestBit(std::uint32_t word) {
    return std::popcount((word & (0 - word)) - 1);
  }

  // The indices [begin, end).
  struct Range {
    std::int32_t begin, end;
  };
  // The rows (or columns) i of the traversal for which `from` + stride * i, a row (column) of the
  // source, lies in [0, extent).
  WEFT_DEVICE static Range Inside(std::int32_t from, std::int32_t extent,
                                  const gemm::FastDivmod& stride) {
    const std::int32_t up = stride.divisor() - 1;
    return {from < 0 ? stride.Divide(up - from) : 0,
            extent > from ? stride.Divide(extent - from + up) : 0};
  }

  // A bit for each position of a pass, 1 where it lies outside these rows and columns of the
  // traversal. The loop takes one row of the traversal after the other.
  WEFT_DEVICE std::uint32_t WordOf(int pass, const Range& rows, const Range& columns) const {
    std::int32_t pq, q;
    a_.rows.image_pixels.Divmod(
        static_cast<std::int32_t>(first_ + static_cast<std::uint32_t>(32 * pass)), pq);
    std::int32_t p = a_.rows.row_pixels.Divmod(pq, q);
    const std::int32_t left = p_.positions - 32 * pass, end = left < 32 ? left : 32;
    std::uint32_t word = 0;
    WEFT_NO_UNROLL
    for (std::int32_t at = -q; at < end; at += a_.rows.row_pixels.divisor()) {
      // Bit at + c is column c of this row.
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
  // The lowest n bits.
  WEFT_DEVICE static std::uint32_t Below(std::int32_t n) {
    return n <= 0 ? 0 : n >= 32 ? ~0u : (1u << n) - 1;
  }

  // A position's row in shared memory is as long as the swizzle's span, so the swizzle moves pieces
  // within the row only; as all of them are the same, addresses need no swizzle.
  const PaddingParams& p_;
  const SourceCopies& a_;
  std::uint32_t list_;       // shared address of the list
  Chunk chunk_;              // 16 bytes of the zero point
  std::uint32_t first_ = 0;  // the tile's first position
  bool listed_ = false;      // whether the tile's list fitted
  std::int32_t copy_ = 0;    // the next k tile's first copy
  std::int32_t from_ = 0;    // this k tile's first copy, and how many it has
  std::int32_t count_ = 0;
  std::int32_t at_ = 0;  // the lane's first entry for this k tile, and how far the last one is
  std::int32_t left_ = 0;
  std::int32_t ahead_[kAhead] = {};  // the lane's first entries, read early
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
