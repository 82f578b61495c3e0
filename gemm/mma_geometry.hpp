// How the mma mainloops divide a threadblock tile among warps, and where operands lie in shared
// memory.
#pragma once

#include <cstdint>

#include "weft/gemm/config.hpp"
#include "weft/layouts/layout.hpp"
#include "weft/layouts/swizzle.hpp"

namespace weft::gemm {

// Derived from Owner::config. A packet is 32 bytes of k of one row: a pixel's share of one block of
// NCxHWx<32>, and the k extent of one m16n8k32 of int8 or m16n8k16 of 16-bit floats.
// kPacketElements: the elements of a packet, 32 or 16.
template <class Owner, int kPacketElements = 32>
struct MmaGeometry {
  static constexpr int kBlockM = Owner::config.threadblock.m;
  static constexpr int kBlockN = Owner::config.threadblock.n;
  static constexpr int kWarpM = Owner::config.warp.m;
  static constexpr int kWarpN = Owner::config.warp.n;
  static constexpr int kPackets = Owner::config.threadblock.k / kPacketElements;
  static constexpr int kStages = Owner::config.stages;

  static constexpr int kWarpsM = kBlockM / kWarpM;
  static constexpr int kWarpsN = kBlockN / kWarpN;
  static constexpr int kThreads = kWarpsM * kWarpsN * 32;
  static constexpr int kFragmentsM = kWarpM / 16;
  static constexpr int kFragmentsN = kWarpN / 8;

  // Adjacent output channels that a thread holds (ChannelRow).
  static constexpr int kRun = kWarpN % 32 == 0 ? 8 : 4;

  static constexpr int WarpM(int warp) { return warp % kWarpsM; }
  static constexpr int WarpN(int warp) { return warp / kWarpsM; }

  // Rows of the operands that a thread copies a piece of (config.alignment.src bytes) each; it
  // keeps an address for every one.
  static constexpr int kRowsPerThread =
      CeilDiv((kBlockM + kBlockN) * (32 / Owner::config.alignment.src), kThreads);

  // NHWC addresses need more registers than those of channel blocks.
  static constexpr bool kNhwc = [] {
    if constexpr (requires { Owner::kNhwc; }) {
      return Owner::kNhwc;
    } else {
      return false;
    }
  }();

  // Registers that a thread needs without spilling, found by compiling (a spill fails the build),
  // and the blocks that then fit on a multiprocessor.
  static constexpr int kAccumulators = kFragmentsM * kFragmentsN * 4;
  static constexpr int kRegisters = kAccumulators > 64 || kRowsPerThread > 8 ? 232
                                    : kAccumulators > 32
                                        ? (kRowsPerThread <= (kNhwc ? 2 : 3) ? 128 : 200)
                                        : (kRowsPerThread <= 3 ? 112 : 168);
  static constexpr int kMinBlocksPerSm =
      65536 / (kRegisters * kThreads) < 1 ? 1 : 65536 / (kRegisters * kThreads);
};

// Byte offset of half `half` (16 bytes) of row `row` among the packets of one k index: rows of 32
// bytes, with the halves of every second group of four rows exchanged. The 8 rows that ldmatrix
// reads at once then lie in 8 different groups of 4 banks. The same swizzle is TMA's and wgmma's
// 32-byte mode.
constexpr int PacketOffset(int row, int half) {
  return layouts::Swizzle<1, 4, 3>{}(row * 32 + half * 16);
}

// Where the packets of an operand tile of kRows rows lie in shared memory: half `half` of packet
// `packet` of row `row` at Offset(row, packet, half). Fragment(address, packet, row) is the address
// of packet `packet`, `row` rows further, from that of packet 0 (row: a multiple of 16).
//
// Packets of one k index together, as NCxHWx<32> and CxRSKx<32> have them.
template <int kRows, int kPackets>
struct PacketMajor {
  static constexpr int Offset(int row, int packet, int half) {
    return packet * (kRows * 32) + PacketOffset(row, half);
  }
  static constexpr std::uint32_t Fragment(std::uint32_t address, int packet, int row) {
    return address + static_cast<std::uint32_t>((packet * kRows + row) * 32);
  }
};

// Packets of one row together, as matrices have them: cp.async brings the 128 bytes of eight lanes
// with one request to L2 where they are adjacent in shared memory too. The 16-byte pieces of a row
// are exchanged (exclusive or) so that those which ldmatrix reads at once, of 8 rows, lie in 8
// different groups of 4 banks.
template <int kRows, int kPackets>
struct LineMajor {
  static_assert((kPackets & (kPackets - 1)) == 0,
                "weft: config.threadblock.k of a GEMM must be a power of two packets of 32 bytes");
  static constexpr int kPieces = kPackets < 4 ? 2 * kPackets : 8;  // that change places
  static constexpr int kRowsPerLine = 8 / kPieces;                 // rows in 128 bytes

  static constexpr int Offset(int row, int packet, int half) {
    const int piece = (packet * 2 + half) ^ (row / kRowsPerLine % kPieces);
    return row * (kPackets * 32) + piece * 16;
  }
  static constexpr std::uint32_t Fragment(std::uint32_t address, int packet, int row) {
    return (address ^ static_cast<std::uint32_t>(packet * 32)) +
           static_cast<std::uint32_t>(row * (kPackets * 32));
  }
};

// Where output channel n of a group of 32 lies among the rows of operand B: an mma hands each lane
// two adjacent columns of each of four instructions; in this order they are kRun = 8 adjacent
// channels, or twice 4 where those are 16 bytes already.
//   8: n = 8 lane + 2 instruction + e             ->  8 instruction + 2 lane + e
//   4: n = 16 half + 4 lane + 2 instruction + e   ->  16 half + 8 instruction + 2 lane + e
template <int kRun = 8>
constexpr int ChannelRow(int n) {
  static_assert(kRun == 8 || kRun == 4);
  using layouts::kInt;
  constexpr auto kOrder =
      layouts::MakeLayout(layouts::MakeTuple(kInt<2>, kInt<kRun / 2>, kInt<4>, kInt<8 / kRun>),
                          layouts::MakeTuple(kInt<1>, kInt<8>, kInt<2>, kInt<16>));
  return n / 32 * 32 + kOrder(n % 32);
}

// The inverse of ChannelRow.
template <int kRun = 8>
constexpr int RowChannel(int row) {
  constexpr int kInstructions = kRun / 2;
  return row / 32 * 32 + row % 32 / (8 * kInstructions) * 16 + row % 8 / 2 * kRun +
         row / 8 % kInstructions * 2 + row % 2;
}

}  // namespace weft::gemm
