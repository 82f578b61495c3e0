// Padding that stands for the zero point of a source, in shared memory.
//
// TMA leaves zeros where a source ends. Where its values x stand for x - zx the padding
// is zx, and a warp of the producers writes it over those zeros once a k tile has come
// (MbarRing::Transform), ahead of the warps that multiply. Every pixel then sees all taps of the
// filter: what zx takes from its sum is zx times the sum of a channel's filter, the same for all of
// them, and an epilogue has no border.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/conv/hopper/tma_operands.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/hopper/mbar_ring.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Called by a warp. PolicyT: of a policy whose padding is filled (kFillsPadding).
//
// Once a tile it lists the positions that are padding, copy after copy, for as many copies as lie between the
// first tap and the last one of a k tile, so that those of each k tile follow each other. A lane's are read while
// the k tile is on its way: of what a k tile waits for only stores are left. What the list has no room for is
// worked out for each k tile.
template <class PolicyT, class Mma>
class PaddingTransform {
 public:
  WEFT_DEVICE PaddingTransform(arch::Thread t, const WgmmaParams<PolicyT>& p,
                               const gemm::TransformMemory& memory)
      : p_(p.padding), a_(p.a), list_(t.SharedAddress(memory.list)) {
    // Through memory: ptxas would make four words of one again for each store.
    const std::uint32_t words = t.SharedAddress(memory.word);
    if (t.lane() < 4) {
      t.StoreSharedAt(words + static_cast<std::uint32_t>(4 * t.lane()), p_.word);
    }
    t.SyncWarp();
    chunk_ = t.template LoadSharedAt<Chunk>(words);
  }

  WEFT_DEVICE static bool HasWork(const WgmmaParams<PolicyT>& p) { return p.padding.positions > 0; }

  // The k tiles of `tile` come next, from `k_tile` on.
  template <class Tile>
  WEFT_DEVICE void Aim(arch::Thread t, const Tile& tile, int k_tile) {
    first_ = static_cast<std::uint32_t>(tile.m) * Mma::kBlockM;
    a_.taps.Divmod(k_tile * a_.copies.of_k_tile, copy_);
    List(t);
  }

  // Whether the next k tile has padding; for all lanes alike.
  WEFT_DEVICE bool Prepare(arch::Thread t, int k_tile) {
    count_ = a_.copies.Count(k_tile);
    from_ = copy_;
    a_.taps.Divmod(from_ + count_, copy_);
    if (!listed_) return true;
    const std::int32_t begin = Entry(t, from_), end = Entry(t, from_ + count_);
    // This lane's 16 bytes of a row, of the rows that a warp stores at once.
    at_ = RowsAt() + begin + (t.lane() >> PieceLog2());
    left_ = RowsAt() + end - at_;
    WEFT_UNROLL
    for (int j = 0; j < kAhead; ++j) {
      if (j * Step() < left_) ahead_[j] = Entry(t, at_ + j * Step());
    }
    return begin < end;
  }

  // The k tile of Prepare, which has come to the shared address `stage`.
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
  static constexpr int kAhead = 6;  // 96 rows of 32 bytes to a warp
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

  // The list: where each copy's rows begin and where the last one's end, then the rows, counted from the first
  // copy's.
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

  // use(copy, pass, word) for `count` copies from number `copy` on, by all lanes, each of which works out the
  // word of some passes by itself; it is 0 for lanes that have none.
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
    t.SyncWarp();  // the list of another tile has been read
    ForEachWord(t, 0, p_.copies, [&](std::int32_t copy, std::int32_t pass, std::uint32_t word) {
      // Of the counts of all lanes, 0 to 32, each bit by itself.
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

  // Copies from number from_ on; a lane fills what it has worked out.
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

  // From `begin` on and below `end`.
  struct Range {
    std::int32_t begin, end;
  };
  // Rows (columns) of the traversal whose row (column) of the source, `from` + stride * its number, is
  // one of `extent`.
  WEFT_DEVICE static Range Inside(std::int32_t from, std::int32_t extent,
                                  const gemm::FastDivmod& stride) {
    const std::int32_t up = stride.divisor() - 1;
    return {from < 0 ? stride.Divide(up - from) : 0,
            extent > from ? stride.Divide(extent - from + up) : 0};
  }

  // The positions of a pass that are not in these rows and columns of the traversal: one of its rows
  // after the other.
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

  // Rows are as long as their swizzle, which then makes no difference to what is full of one word.
  const PaddingParams& p_;
  const SourceCopies& a_;
  std::uint32_t list_;       // its shared address
  Chunk chunk_;              // what padding is full of
  std::uint32_t first_ = 0;  // position of the tile
  bool listed_ = false;      // whether the tile's rows had room
  std::int32_t copy_ = 0;    // the first of the next k tile
  std::int32_t from_ = 0;    // the first of the k tile, and how many it has
  std::int32_t count_ = 0;
  std::int32_t at_ = 0;  // the lane's first row in the list, and how far the k tile's last is
  std::int32_t left_ = 0;
  std::int32_t ahead_[kAhead] = {};  // the lane's first rows
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
