// The simt mainloop: int8 dot products by dp4a, or fma of floats and doubles.
//
// A stage holds k groups, as [group][column]. A group is what one instruction takes of a row of A
// or a column of B: four int8, one float or one double. Each float accumulator gets one fma for
// every k, in ascending order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/sliced_sums.hpp"
#include "weft/gemm/tile/warp_tile.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// A lane owns
//   rows    m = warp_m * kWarpM + lane_m + kLanesM * i, i < kThreadM   (strided), and
//   columns n = warp_n * kWarpN + lane_n * kThreadN + j, j < kThreadN  (adjacent):
// neighbouring lanes hold neighbouring pixels, and one lane holds adjacent channels, which is what
// makes the stores of every output format whole 32-byte sectors.
//
// Where config.warp.k is less than config.threadblock.k, kWarpsK warps share each warp tile
// (sliced_sums.hpp). An output then is the sum of their accumulators, one for each part of the k
// tiles, added in the order of the parts.
template <class PolicyT>
struct SimtMainloop : LaneTile<PolicyT, WarpTile<PolicyT>::kWarpsK>,
                      SlicedSums<SimtMainloop<PolicyT>, WarpTile<PolicyT>::kWarpsK> {
  using Tile = LaneTile<PolicyT, WarpTile<PolicyT>::kWarpsK>;
  using Pipeline = gemm::DoubleBuffer<SimtMainloop>;
  static constexpr bool kHasScratch = Tile::kWarpsK > 1;  // SlicedSums
  static constexpr arch::Requires kRequires = {.min = 75};
  using Group = std::conditional_t<Tile::kInt8, std::uint32_t, typename PolicyT::Element>;
  using Sum = std::conditional_t<Tile::kInt8, std::int32_t, typename PolicyT::Element>;
  static constexpr int kGroupBytes = sizeof(Group);
  static constexpr int kGroups = Tile::kBlockK / Tile::kThread.k;
  static constexpr int kBytesA = kGroups * Tile::kBlockM * kGroupBytes;
  static constexpr int kBytesB = kGroups * Tile::kBlockN * kGroupBytes;

  static_assert((Tile::kThreadN % 4 == 0 && (Tile::kThreadM == 2 || Tile::kThreadM % 4 == 0)) ||
                    !Tile::kThreadDivides,
                "weft: config.thread.n must be a multiple of 4 (one dst word), and thread.m 2 or a "
                "multiple of 4");
  static_assert(Tile::kThreadN * Tile::kOutputBits % (8 * PolicyT::config.alignment.dst) == 0,
                "weft: config.alignment.dst is wider than the config.thread.n output channels that "
                "one thread holds");
  static_assert(Tile::kBlockM % Tile::kThreads == 0 ||
                    (Tile::kThreads % Tile::kBlockM == 0 &&
                     kGroups * Tile::kBlockM % Tile::kThreads == 0),
                "weft: config.threadblock has too many threads for its k extent: threads and "
                "threadblock.m must divide one another, and threads / threadblock.m must divide "
                "the k groups of threadblock.k (k / 4 for int8)");

  // Columns of B, and of A, whose groups a thread reads from shared memory at once.
  static constexpr int kVectorN = 16 / kGroupBytes;
  static constexpr int kVectorM = Tile::kThreadM < kVectorN ? Tile::kThreadM : kVectorN;

  // Maps column m of the tile to its place in a row of A's stage. Threads read vectors of kVectorM
  // columns that are kLanesM apart in m, so those are put side by side. Writers with consecutive m
  // then hit distinct banks, and readers with consecutive lanes read adjacent vectors.
  using PositionA =
      LayoutOf<Ints<Tile::kLanesM, kVectorM, Tile::kThreadM / kVectorM, Tile::kWarpsM>,
               Ints<kVectorM, 1, kVectorM * Tile::kLanesM, Tile::kWarpM>>;

  // Registers of a thread with which the kernel does not spill; found by compiling. kStaged: words
  // of a k tile that a thread holds on their way to shared memory; kSums: words of its
  // accumulators.
  static constexpr int Registers(int) {
    constexpr int kStaged = (CeilDiv(kGroups * Tile::kBlockM, Tile::kThreads) +
                             CeilDiv(kGroups * Tile::kBlockN, Tile::kThreads)) *
                            (kGroupBytes / 4);
    constexpr int kSums = Tile::kThreadM * Tile::kThreadN * (kGroupBytes / 4);
    if (PolicyT::config.registers > 0) return PolicyT::config.registers;
    if (kSums > 64 || kGroupBytes == 8) return 232;
    if (!Tile::kInt8) return kStaged <= 12 ? 128 : 168;
    if (kSums < 64) return kStaged <= 12 ? 96 : 128;
    if (kStaged <= 8 && Tile::kBlockN <= Tile::kBlockM) return 128;
    return kStaged <= 16 ? 160 : 168;
  }

  // acc[i][j] is row i and column j of the thread.
  using Accumulators = Sum[Tile::kThreadM][Tile::kThreadN];
  static_assert(CheckedThreadRegisters<int(sizeof(Accumulators) / 4),
                                       (Tile::kThreadM + Tile::kThreadN) * (kGroupBytes / 4),
                                       Tile::kThreads>::kOk);

  // Which outputs a thread holds (accumulators.hpp).
  struct MapLayouts {
    using Accumulators = SimtMainloop::Accumulators;
    using ThreadRow = typename Tile::template RowOf<1>;
    using ThreadColumn = typename Tile::template ColumnOf<Tile::kThreadN>;
    using ValueRow = LayoutOf<Ints<Tile::kThreadM>, Ints<Tile::kLanesM>>;
    using ValueColumn = LayoutOf<Ints<Tile::kThreadN, 1>, Ints<1, 0>>;
    using Register = LayoutOf<Nest<Ints<Tile::kThreadM>, Ints<Tile::kThreadN, 1>>,
                              Nest<Ints<Tile::kThreadN>, Ints<1, 0>>>;
  };
  using Map = LayoutMap<MapLayouts>;

  // acc += A B of one stage.
  WEFT_DEVICE static void Multiply(arch::Thread t, const std::uint8_t* stage_a,
                                   const std::uint8_t* stage_b, Accumulators& acc) {
    using VectorA = SharedVector<Group, kVectorM>;
    using VectorB = SharedVector<Group, kVectorN>;
    constexpr int kPartGroups = kGroups / Tile::kWarpsK,
                  kPartThreads = Tile::kThreads / Tile::kWarpsK;
    const int first = t.tid() / kPartThreads * kPartGroups;
    const int column_a = typename Tile::template RowOf<kVectorM>()(t.tid());
    const int column_b = typename Tile::template ColumnOf<Tile::kThreadN>()(t.tid());
    const auto* a = reinterpret_cast<const Group*>(stage_a) + first * Tile::kBlockM + column_a;
    const auto* b = reinterpret_cast<const Group*>(stage_b) + first * Tile::kBlockN + column_b;
    WEFT_UNROLL
    for (int k = 0; k < kPartGroups; ++k) {
      Group row_a[Tile::kThreadM], row_b[Tile::kThreadN];
      WEFT_UNROLL
      for (int i = 0; i < Tile::kThreadM; i += kVectorM) {
        const VectorA v = t.LoadShared(
            reinterpret_cast<const VectorA*>(a + k * Tile::kBlockM + i * Tile::kLanesM));
        WEFT_UNROLL
        for (int e = 0; e < kVectorM; ++e) row_a[i + e] = v.value[e];
      }
      WEFT_UNROLL
      for (int j = 0; j < Tile::kThreadN; j += kVectorN) {
        const VectorB v = t.LoadShared(reinterpret_cast<const VectorB*>(b + k * Tile::kBlockN + j));
        WEFT_UNROLL
        for (int e = 0; e < kVectorN; ++e) row_b[j + e] = v.value[e];
      }
      if constexpr (Tile::kInt8) {
        t.template Dp4aOuter<std::is_same_v<typename PolicyT::Element, std::uint8_t>>(acc, row_a,
                                                                                      row_b);
      } else {
        t.FmaOuter(acc, row_a, row_b);
      }
    }
  }

  // acc += A B of `stages` >= 1 stages that have all landed and lie side by side.
  WEFT_DEVICE static void MultiplyStages(arch::Thread t, const std::uint8_t* stages_a,
                                         const std::uint8_t* stages_b, int stages,
                                         Accumulators& acc) {
    for (int s = 0; s < stages; ++s) {
      Multiply(t, stages_a + s * kBytesA, stages_b + s * kBytesB, acc);
    }
  }

  // The byte offset in a stage of k group `group` of row `row`.
  template <class Rows>
  static constexpr int Offset(int group, int row) {
    const int column = Rows::kIsA ? PositionA()(row) : row;
    return (group * Rows::template kExtent<Tile> + column) * kGroupBytes;
  }

  // How threads share an operand's loads and where a stage has each piece: KMajor for pieces of
  // kPieceBytes along k of a row, MnMajor for pieces along the rows of one k group, Transposed for
  // an operand that is transposed on its way. By: the type whose kThreads threads load it.
  using ColumnsOfB = RowsOfB;
  template <class Rows, int kPieceBytes>
  struct PlaceAlong {
    static constexpr int kBytes = kPieceBytes, kCells = kBytes / kGroupBytes;
    static constexpr int Offset(int row, int, int outer, int cell) {
      return SimtMainloop::Offset<Rows>(outer * kCells + cell, row);
    }
  };
  template <class Rows, int kPieceBytes, class By = Tile>
  struct KMajor : PlaceAlong<Rows, kPieceBytes>,
                  Share<By, Rows, Pieces<1, 1, kGroups * kGroupBytes / kPieceBytes>> {
    static_assert(kGroups * kGroupBytes % kPieceBytes == 0,
                  "weft: config.alignment.src is wider than config.threadblock.k elements");
  };
  template <class Rows, class By = Tile>
  struct Transposed : PlaceAlong<Rows, 4>, Share<By, Rows, Pieces<1, 4, kGroups>> {};
  template <class Rows, int kPieceBytes, class By = Tile>
  struct MnMajor : Share<By, Rows, Pieces<1, kPieceBytes / kGroupBytes, kGroups>> {
    static constexpr int kBytes = kPieceBytes, kCells = Rows::kIsA ? MnMajor::kPieceRows : 1;
    static constexpr int Offset(int row, int, int outer, int cell) {
      return SimtMainloop::Offset<Rows>(outer, row * MnMajor::kPieceRows + cell);
    }
  };

  // An operand in blocks of int4 (int4_blocks.hpp), each of 8 rows of one k group.
  template <class Rows, bool>
  struct Int4Blocks : Share<Tile, Rows, Pieces<1, 8, kGroups>> {
    static constexpr int kBytes = 32, kCells = 2;
    static constexpr int Offset(int row, int, int outer, int cell) {
      return SimtMainloop::Offset<Rows>(outer, row * 8 + cell * 4);
    }
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
