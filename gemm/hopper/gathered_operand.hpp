// GatheredOperand: an operand whose rows begin at multiples of 8 bytes, which producer threads load
// by cp.async, in pieces of 8 bytes (gemm/ring/gather_producer.hpp).
//
// A stage holds 128 bytes of k of each row of operand A and, behind them, of each row of operand B,
// with the 128-byte swizzle.
#pragma once

#include <concepts>
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/ring/gather_producer.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// The 8-byte pieces, and the bytes, that one row of a k tile has in a stage.
inline constexpr int kGatherUnits = 16, kGatherRowBytes = 128;

// How 128 threads share the rows of a k tile that has `units` pieces of 8 bytes: 4, 8 or 16
// neighbouring threads take a row, so that they read neighbouring bytes, and each thread goes from
// row to row by a multiple of 8 rows, after which the swizzle repeats.
struct GatherShare {
  int unit, first_row, row_step;
  constexpr GatherShare(int thread, int units) {
    const int bits = units > 8 ? 4 : units > 4 ? 3 : 2;
    unit = thread & ((1 << bits) - 1);
    first_row = thread >> bits;
    row_step = 128 >> bits;
  }
  // The byte offset, in an operand's part of the stage, of this thread's piece of its first row.
  // The pieces of its further rows follow at intervals of Step() bytes.
  constexpr std::uint32_t Place() const {
    return static_cast<std::uint32_t>(first_row * kGatherRowBytes +
                                      (((unit >> 1) ^ (first_row & 7)) << 4) + ((unit & 1) << 3));
  }
  constexpr std::uint32_t Step() const {
    return static_cast<std::uint32_t>(row_step * kGatherRowBytes);
  }
};

// How many 8-byte pieces of `k_tile` are loaded for an operand whose k has `units` of them in all:
// those that are left, rounded up to the 32 bytes of k that one wgmma reads.
constexpr int GatherUnitsOf(int units, int k_tile) {
  const int left = (units - k_tile * kGatherUnits + 3) & ~3;
  return left < kGatherUnits ? left : kGatherUnits;
}

// An 8-byte piece of a row: where it lies in global memory, and how many of its bytes are the
// operand's, 8 or 0; the others are zeros in shared memory.
struct GatheredPiece {
  const std::uint8_t* from;
  int bytes;
};

// An iterator that knows the rows of operand A.
template <class Iterator>
concept IteratorOfRows = requires(const Iterator iterator) {
  { iterator.Row(0) } -> std::convertible_to<GatheredRow>;
};

inline namespace WEFT_BACKEND {

// A GatheredOperand is an iterator over the 8-byte pieces of its rows:
//
//     struct Iterator {
//       struct Params;  // made on the host
//       template <class Tile>
//       WEFT_DEVICE Iterator(const Params& p, const Tile& tile);
//       WEFT_DEVICE int Units() const;  // of k, 8 bytes each
//       WEFT_DEVICE int Rows() const;   // rows of the tile that are loaded
//       // The pieces of one unit of k, of share.first_row and every share.row_step-th row after it.
//       // Next is called for each of these rows, in that order.
//       struct Pieces {
//         WEFT_DEVICE GatheredPiece Next(arch::Thread t, const GatheredRow* rows, int row);
//       };
//       WEFT_DEVICE Pieces PiecesOf(const GatherShare& share, std::int32_t unit) const;
//       WEFT_DEVICE GatheredRow Row(int row) const;  // of operand A only
//     };
template <class Iterator>
class GatheredOperand : public OperandTraits {
 public:
  template <class Params, class Tile>
  WEFT_DEVICE GatheredOperand(const Params& p, const Tile& tile) : iterator_(p, tile) {}

  WEFT_DEVICE GatheredRow Row(int row) const
    requires IteratorOfRows<Iterator>
  {
    return iterator_.Row(row);
  }

  WEFT_DEVICE void Copy(arch::Thread t, std::uint32_t to, int k_tile, const GatheredRow* rows,
                        int thread) const {
    const int units = GatherUnitsOf(iterator_.Units(), k_tile);
    const GatherShare share(thread, units);
    if (share.unit >= units) return;
    auto pieces = iterator_.PiecesOf(share, k_tile * kGatherUnits + share.unit);
    const int end = iterator_.Rows();
    to += share.Place();
    WEFT_UNROLL_4
    for (int row = share.first_row; row < end; row += share.row_step) {
      const GatheredPiece piece = pieces.Next(t, rows, row);
      t.template CpAsync<8>(to, piece.from, piece.bytes);
      to += share.Step();
    }
  }

 private:
  Iterator iterator_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
