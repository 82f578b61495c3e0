// How operands of tensor cores are laid out in a stage of shared memory.
//
// The unit is a k group: the 32 bytes along k of one row that one instruction multiplies, for
// example 32 int8 or 16 16-bit floats.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/warp_tile.hpp"
#include "weft/layouts/algebra/swizzle.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

// Layout: (row, byte of k) -> byte. Half `half` (16 bytes) of k group `group` of row `row` is at
// Offset(row, group, half). A stage begins at a multiple of kAlignment bytes and has Bytes(bytes of
// a row's k group).
//
// GroupMajor: the groups of all rows at one k are adjacent, as in NCxHWx<32> and CxRSKx<32>. In
// every second set of four rows the 16-byte halves are exchanged, so that the 8 rows that ldmatrix
// reads at once lie in 8 different sets of 4 banks. It is the 32-byte swizzle of TMA and wgmma.
template <int kRows, int kGroups>
struct GroupMajor {
  static constexpr int kInnerGroups = 1;  // adjacent k groups of a row
  static constexpr int kAlignment = 128;
  static constexpr int Bytes(int group_bytes) { return kGroups * kRows * group_bytes; }
  using Swizzle = layouts::Swizzle<1, 4, 3>;
  using Unswizzled = LayoutOf<Nest<layouts::Int<kRows>, Ints<32, kGroups>>,
                              Nest<layouts::Int<32>, Ints<1, kRows * 32>>>;
  using Layout = layouts::ComposedLayout<Swizzle, layouts::Int<0>, Unswizzled>;
  static_assert(kRows * 32 % Swizzle::kRepeat == 0);  // so that a group's offset is not swizzled
  static constexpr int Offset(int row, int group, int half) {
    return Unswizzled()(0, group * 32) + Swizzle()(Unswizzled()(row, half * 16));
  }
};

// LineMajor: the groups of one row are adjacent, as in a K-major matrix. cp.async loads the 128
// bytes of eight lanes by one request to L2 only where they are adjacent in shared memory too. The
// 16-byte pieces of a row are swizzled so that those of the 8 rows that ldmatrix reads at once lie
// in 8 different sets of 4 banks.
template <int kRows, int kGroups>
struct LineMajor {
  static constexpr int kInnerGroups = kGroups;
  static constexpr int kAlignment = kGroups <= 4 ? 128 : kGroups * 32;
  static constexpr int Bytes(int group_bytes) { return kGroups * kRows * group_bytes; }
  static_assert((kGroups & (kGroups - 1)) == 0,
                "weft: config.threadblock.k of a GEMM must be a power of two times 32 bytes");
  static constexpr int kBits = kGroups == 1 ? 1 : kGroups == 2 ? 2 : 3;  // bits of a piece's number
  // The distance from these bits, which begin at bit 4 of an offset, to bits of the row's number:
  // they begin at bit 7, or at bit 8 or 9 where rows have 256 or 512 bytes.
  static constexpr int kShift = kGroups <= 4 ? 3 : kGroups == 8 ? 4 : 5;
  static_assert(kGroups <= 16, "weft: config.threadblock.k of a GEMM is at most 512 bytes");

  using Swizzle = layouts::Swizzle<kBits, 4, kShift>;
  using Unswizzled = LayoutOf<Ints<kRows, kGroups * 32>, Ints<kGroups * 32, 1>>;
  using Layout = layouts::ComposedLayout<Swizzle, layouts::Int<0>, Unswizzled>;
  static constexpr int Offset(int row, int group, int half) {
    return Layout()(row, group * 32 + half * 16);
  }
};

// The stage layout of kRows rows, LineMajor or GroupMajor, as (row, k) -> element of Type. With
// kRun > 2 the row index is an output channel n, which lies in row ChannelRow<kRun>(n) of the
// stage.
template <class Type, class Stage, int kRows, int kRun = 0>
constexpr auto StageLayoutOf() {
  constexpr auto kStage = layouts::RecastLayout<Type, std::uint8_t>(typename Stage::Layout());
  if constexpr (kRun <= 2) {
    return kStage;
  } else {
    constexpr auto kUnswizzled = kStage.layout();
    return layouts::MakeComposedLayout(
        typename decltype(kStage)::Swizzle{}, layouts::Int<0>{},
        layouts::MakeLayout(
            layouts::Composition(layouts::Get<0>(kUnswizzled),
                                 typename internal::ChannelOrder<kRun, kRows>::OrderLayout()),
            layouts::Get<1>(kUnswizzled)));
  }
}

// DoubleMajor: for doubles, complex doubles (kElementBytes 8, 16) and MN-major tf32 (4), which
// lanes load one element at a time. A request reads 128 bytes, that is 4 k of 4, 2 or 8 rows.
// Padding avoids bank conflicts: with kKMajor the rows of a request begin in different
// sets of 8 banks (16 for complex); otherwise (MN-major) the four k begin in different sets of 8
// banks.
template <int kRows, int kGroups, bool kKMajor, int kElementBytes>
struct DoubleMajor {
  static constexpr int kInnerGroups = kGroups, kAlignment = 128;
  static constexpr int kDepth = kGroups * 32 / kElementBytes;
  static constexpr int kLine = kKMajor ? kDepth * kElementBytes : kRows * kElementBytes;
  static constexpr int kApart = kKMajor ? 4 * kElementBytes : 32;
  static constexpr int kPitch = kLine % (2 * kApart) == 0 ? kLine + kApart : kLine;
  static_assert(kPitch % (2 * kApart) == kApart);
  static constexpr int Bytes(int /*group_bytes*/) { return kPitch * (kKMajor ? kRows : kDepth); }
  using Swizzle = layouts::Swizzle<0, 0, 0>;
  using Unswizzled =
      std::conditional_t<kKMajor, LayoutOf<Ints<kRows, kGroups * 32>, Ints<kPitch, 1>>,
                         LayoutOf<Nest<layouts::Int<kRows>, Ints<kElementBytes, kDepth>>,
                                  Nest<layouts::Int<kElementBytes>, Ints<1, kPitch>>>>;
  using Layout = Unswizzled;
  static constexpr int Offset(int row, int group, int half) {
    return Unswizzled()(row, group * 32 + half * 16);
  }
};

// The k groups of int4, 16 bytes each (layouts/packed_int4.hpp); those of one k are adjacent.
template <int kRows>
struct Int4Major {
  static constexpr int Offset(int row, int group) { return (group * kRows + row) * 16; }
};

// What a mainloop of tensor cores is told of its operands, whose defaults are those of a
// convolution of bytes. A kernel's Parts inherit it and declare again what differs.
struct MmaOperands {
  // The operands are matrices; otherwise they are channel blocks, which have the same order in
  // global and shared memory.
  static constexpr bool kMatrix = false;
  // Operand B is int4. Its stages hold half the bytes, which a warp upcasts after it has loaded
  // them.
  static constexpr bool kInt4B = false;
  // Both operands are of 4 bits. A pair of them takes the place of one int8, and a k group has 64
  // values.
  static constexpr bool kPairs = false;
  // Whether k runs along memory in a stage of A, of B. Only of doubles and tf32, which are copied
  // without a transpose, it need not.
  static constexpr bool kKMajorA = true, kKMajorB = true;
};
struct MmaMatrices : MmaOperands {
  static constexpr bool kMatrix = true;
};

// A tile of tensor-core fragments of kFragmentRows rows and 8 columns. Operands: MmaOperands, or a
// type that inherits it.
template <class PolicyT, class Operands, int kFragmentRows>
struct FragmentTile : WarpTile<PolicyT> {
  using Warps = WarpTile<PolicyT>;
  static constexpr bool kMatrix = Operands::kMatrix;
  static constexpr int kGroups = Warps::kBlockK * Warps::kElementBytes / 32;
  static constexpr int kFragmentsM = Warps::kWarpM / kFragmentRows, kFragmentsN = Warps::kWarpN / 8;
  static constexpr bool kDoubles = Warps::kElementBytes >= 8;  // doubles or complex numbers
  static_assert(!kDoubles || kMatrix);
  // Whether lanes load the operand one element at a time, without ldmatrix.
  template <bool kKMajor>
  static constexpr bool kByWords = kDoubles || (Warps::kElementBytes == 4 && !kKMajor);
  template <int kRows, bool kKMajor>
  using Layout = std::conditional_t<
      kByWords<kKMajor>, DoubleMajor<kRows, kGroups, kKMajor, Warps::kElementBytes>,
      std::conditional_t<kMatrix, LineMajor<kRows, kGroups>, GroupMajor<kRows, kGroups>>>;
  using LayoutA = Layout<Warps::kBlockM, Operands::kKMajorA>;
  using LayoutB = Layout<Warps::kBlockN, Operands::kKMajorB>;
  static constexpr int kBytesA = LayoutA::Bytes(32);
  static constexpr int kBytesB = LayoutB::Bytes(Operands::kInt4B ? 16 : 32);
  static constexpr int kStageAlignment =
      LayoutA::kAlignment > LayoutB::kAlignment ? LayoutA::kAlignment : LayoutB::kAlignment;
};

// Where mainloop Mma wants the pieces of an operand: of kPieceBytes = 4 to 16, which lie within
// half a k group, or of 32, which are stored in two cells.
template <class Mma, class Rows, int kPieceBytes>
struct MmaPlace {
  using Layout = std::conditional_t<Rows::kIsA, typename Mma::LayoutA, typename Mma::LayoutB>;
  static constexpr int kBytes = kPieceBytes, kCells = CeilDiv(kPieceBytes, 16);
  static constexpr int Offset(int row, int inner, int outer, int cell) {
    const int byte = inner * kBytes + cell * 16;
    return Layout::Offset(row, outer + byte / 32, byte % 32 / 16) + byte % 16;
  }
};

// The shape (operand.hpp) of an operand whose pieces run along k of one row. kUnitBytes: the bytes of
// k that lie side by side in global memory, at least a piece; several units of fewer than 32 bytes
// make a k group, as channel blocks of 16 bytes do.
template <class Mma, class Rows, int kPieceBytes, int kUnitBytes = Mma::LayoutA::kInnerGroups * 32>
struct MmaKMajor
    : MmaPlace<Mma, Rows, kPieceBytes>,
      Share<Mma, Rows, Pieces<kUnitBytes / kPieceBytes, 1, Mma::kGroups * 32 / kUnitBytes>> {
  static_assert(kUnitBytes % kPieceBytes == 0 && (kUnitBytes % 32 == 0 || 32 % kUnitBytes == 0));
  static constexpr int Offset(int row, int inner, int outer, int cell) {
    using Place = MmaPlace<Mma, Rows, kPieceBytes>;
    if constexpr (kUnitBytes >= 32) {
      return Place::Offset(row, inner, outer, cell);
    } else {
      constexpr int kUnits = 32 / kUnitBytes;  // of a k group
      return Place::Offset(row, outer % kUnits * (kUnitBytes / kPieceBytes) + inner, outer / kUnits,
                           cell);
    }
  }
};

}  // namespace weft::gemm
