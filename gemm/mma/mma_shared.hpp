// Where operands of tensor cores lie in a stage of shared memory.
//
// The unit is a k group: the 32 bytes of k of one row that one instruction multiplies, 32 int8 or 16
// 16-bit floats.
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
// Offset(row, group, half). A stage begins at a multiple of kAlignment bytes and has Bytes(bytes of a
// row's k group).
//
// Groups of one k together, as NCxHWx<32> and CxRSKx<32> have them. The halves of every second set
// of four rows are exchanged: the 8 rows that ldmatrix reads at once then lie in 8 different sets
// of 4 banks. The same swizzle is TMA's and wgmma's 32-byte mode.
template <int kRows, int kGroups>
struct GroupMajor {
  static constexpr int kInnerGroups = 1;  // of a row, side by side
  static constexpr int kAlignment = 128;
  static constexpr int Bytes(int group_bytes) { return kGroups * kRows * group_bytes; }
  using Swizzle = layouts::Swizzle<1, 4, 3>;
  using Lines = LayoutOf<Nest<layouts::Int<kRows>, Ints<32, kGroups>>,
                         Nest<layouts::Int<32>, Ints<1, kRows * 32>>>;
  using Layout = layouts::ComposedLayout<Swizzle, layouts::Int<0>, Lines>;
  static_assert(kRows * 32 % Swizzle::kRepeat == 0);  // so that a group can be added at last
  static constexpr int Offset(int row, int group, int half) {
    return Lines()(0, group * 32) + Swizzle()(Lines()(row, half * 16));
  }
};

// Groups of one row together, as matrices have them: cp.async loads the 128 bytes of eight lanes
// with one request to L2 where they are adjacent in shared memory too. The 16-byte pieces of a row
// are exchanged so that those which ldmatrix reads at once, of 8 rows, lie in 8 different sets of 4
// banks.
template <int kRows, int kGroups>
struct LineMajor {
  static constexpr int kInnerGroups = kGroups;
  static constexpr int kAlignment = kGroups <= 4 ? 128 : kGroups * 32;
  static constexpr int Bytes(int group_bytes) { return kGroups * kRows * group_bytes; }
  static_assert((kGroups & (kGroups - 1)) == 0,
                "weft: config.threadblock.k of a GEMM must be a power of two times 32 bytes");
  static constexpr int kBits = kGroups == 1 ? 1 : kGroups == 2 ? 2 : 3;  // pieces change places
  // The row's number begins at bit 7 of an offset, or where rows are longer at bit 8 and higher.
  static constexpr int kShift = kGroups <= 4 ? 3 : kGroups == 8 ? 4 : 5;
  static_assert(kGroups <= 16, "weft: config.threadblock.k of a GEMM is at most 512 bytes");

  using Swizzle = layouts::Swizzle<kBits, 4, kShift>;
  using Lines = LayoutOf<Ints<kRows, kGroups * 32>, Ints<kGroups * 32, 1>>;
  using Layout = layouts::ComposedLayout<Swizzle, layouts::Int<0>, Lines>;
  static constexpr int Offset(int row, int group, int half) {
    return Layout()(row, group * 32 + half * 16);
  }
};

// LineMajor or GroupMajor of kRows rows as a layout (row, k) -> element of Type. kRun > 2: rows are
// channels, ChannelRow<kRun> of which is the line.
template <class Type, class Stage, int kRows, int kRun = 0>
constexpr auto LinesOf() {
  constexpr auto kBytes = layouts::RecastLayout<Type, std::uint8_t>(typename Stage::Layout());
  if constexpr (kRun <= 2) {
    return kBytes;
  } else {
    constexpr auto kLines = kBytes.layout();
    return layouts::MakeComposedLayout(
        typename decltype(kBytes)::Swizzle{}, layouts::Int<0>{},
        layouts::MakeLayout(
            layouts::Composition(layouts::Get<0>(kLines),
                                 typename internal::ChannelOrder<kRun, kRows>::OrderLayout()),
            layouts::Get<1>(kLines)));
  }
}

// Of doubles and complex doubles (kElementBytes 8, 16), and of tf32 (4) whose rows lie side by side, which
// lanes read one by one: 128 bytes at once, that is 4 k of 4 rows, or of 2, or of 8. kLines: lines of k side by side, of which those 4 (2) begin in different
// sets of 8 (16) banks; if not, k's one after the other, of rows side by side: in sets of 8.
template <int kRows, int kGroups, bool kLines, int kElementBytes>
struct DoubleMajor {
  static constexpr int kInnerGroups = kGroups, kAlignment = 128;
  static constexpr int kDepth = kGroups * 32 / kElementBytes;
  static constexpr int kLine = kLines ? kDepth * kElementBytes : kRows * kElementBytes;
  static constexpr int kApart = kLines ? 4 * kElementBytes : 32;
  static constexpr int kPitch = kLine % (2 * kApart) == 0 ? kLine + kApart : kLine;
  static_assert(kPitch % (2 * kApart) == kApart);
  static constexpr int Bytes(int /*group_bytes*/) { return kPitch * (kLines ? kRows : kDepth); }
  using Swizzle = layouts::Swizzle<0, 0, 0>;
  using Lines = std::conditional_t<kLines, LayoutOf<Ints<kRows, kGroups * 32>, Ints<kPitch, 1>>,
                                   LayoutOf<Nest<layouts::Int<kRows>, Ints<kElementBytes, kDepth>>,
                                            Nest<layouts::Int<kElementBytes>, Ints<1, kPitch>>>>;
  using Layout = Lines;
  static constexpr int Offset(int row, int group, int half) {
    return Lines()(row, group * 32 + half * 16);
  }
};

// Groups of int4, 16 bytes (layouts/packed_int4.hpp), those of one k together.
template <int kRows>
struct Int4Major {
  static constexpr int Offset(int row, int group) { return (group * kRows + row) * 16; }
};

// A tile of fragments of kFragmentRows rows and 8 columns. kMatrix: operands are matrices; if not,
// they are channel blocks, which lie in memory as they do in shared memory. kGroupBytesB: of a k
// group of B, 16 where a stage holds int4. kKMajorA, kKMajorB: whether k runs along memory; of doubles
// and tf32 it need not, which are copied as they lie.
template <class PolicyT, bool kMatrix, int kFragmentRows, int kGroupBytesB = 32,
          bool kKMajorA = true, bool kKMajorB = true>
struct FragmentTile : WarpTile<PolicyT> {
  using Warps = WarpTile<PolicyT>;
  static constexpr int kGroups = Warps::kBlockK * Warps::kElementBytes / 32;
  static constexpr int kFragmentsM = Warps::kWarpM / kFragmentRows, kFragmentsN = Warps::kWarpN / 8;
  static constexpr bool kDoubles = Warps::kElementBytes >= 8;  // or complex
  static_assert(!kDoubles || kMatrix);
  // What words are read of one by one.
  template <bool kLines>
  static constexpr bool kByWords = kDoubles || (Warps::kElementBytes == 4 && !kLines);
  template <int kRows, bool kLines>
  using Layout = std::conditional_t<
      kByWords<kLines>, DoubleMajor<kRows, kGroups, kLines, Warps::kElementBytes>,
      std::conditional_t<kMatrix, LineMajor<kRows, kGroups>, GroupMajor<kRows, kGroups>>>;
  using LayoutA = Layout<Warps::kBlockM, kKMajorA>;
  using LayoutB = Layout<Warps::kBlockN, kKMajorB>;
  static constexpr int kBytesA = LayoutA::Bytes(32);
  static constexpr int kBytesB = LayoutB::Bytes(kGroupBytesB);
  static constexpr int kStageAlignment =
      LayoutA::kAlignment > LayoutB::kAlignment ? LayoutA::kAlignment : LayoutB::kAlignment;
};

// Where mainloop Mma wants pieces of kPieceBytes, 4 to 16, within a half, or 32, in two cells.
template <class Mma, class Rows, int kPieceBytes>
struct MmaPlace {
  using Layout = std::conditional_t<Rows::kIsA, typename Mma::LayoutA, typename Mma::LayoutB>;
  static constexpr int kBytes = kPieceBytes, kCells = CeilDiv(kPieceBytes, 16);
  static constexpr int Offset(int row, int inner, int outer, int cell) {
    const int byte = inner * kBytes + cell * 16;
    return Layout::Offset(row, outer + byte / 32, byte % 32 / 16) + byte % 16;
  }
};

// The shape (operand.hpp) of an operand whose pieces lie along k of a row.
template <class Mma, class Rows, int kPieceBytes>
struct MmaKMajor : MmaPlace<Mma, Rows, kPieceBytes>,
                   Share<Mma, Rows,
                         Pieces<Mma::LayoutA::kInnerGroups * 32 / kPieceBytes, 1,
                                Mma::kGroups / Mma::LayoutA::kInnerGroups>> {};

}  // namespace weft::gemm
