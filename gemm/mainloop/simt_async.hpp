// The simt_async mainloop: fma of floats or doubles over a ring of stages that cp.async fills.
//
// A stage holds A and B as [k][column]. Each accumulator gets one fma for every k, in ascending
// order, as in simt.hpp; where warps share a k tile, for every k of its warp's part
// (sliced_sums.hpp). One step of k is in registers while the next one is loaded, so that few warps
// with many accumulators each keep the fma units busy.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/sliced_sums.hpp"
#include "weft/gemm/tile/warp_tile.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// A lane owns vectors of kVector adjacent columns, 16 bytes, in m and in n:
//
//     m = warp_m * kWarpM + (v * kLanesM + lane_m) * kVector + e,
//     n = warp_n * kWarpN + (v * kLanesN + lane_n) * kVector + e,   e < kVector,
//
// so that the vectors v of neighbouring lanes are adjacent, in shared memory and in a row of C.
//
// PolicyT: its kKMajorA and kKMajorB say whether A and B are K-major.
template <class PolicyT, bool kKMajorA, bool kKMajorB>
struct SimtAsyncMainloop
    : LaneTile<PolicyT, WarpTile<PolicyT>::kWarpsK>,
      SlicedSums<SimtAsyncMainloop<PolicyT, kKMajorA, kKMajorB>, WarpTile<PolicyT>::kWarpsK> {
  using Tile = LaneTile<PolicyT, WarpTile<PolicyT>::kWarpsK>;
  using Element = typename PolicyT::Element;
  using Pipeline = gemm::CpAsyncRing<SimtAsyncMainloop>;
  static constexpr bool kHasScratch = Tile::kWarpsK > 1;  // SlicedSums
  static constexpr arch::Requires kRequires = {.min = 80};
  static constexpr int kStages = PolicyT::config.stages;
  static constexpr int kVector = 16 / Tile::kElementBytes;

  static_assert(Tile::kThreadM % kVector == 0 && Tile::kThreadN % kVector == 0,
                "weft: config.thread.m and n must be multiples of 16 bytes, 4 floats or 2 doubles");
  static_assert(kStages >= 3, "weft: the simt_async mainloop has config.stages of 3 or more");
  static_assert(PolicyT::config.warp.k % 4 == 0, "weft: config.warp.k must be a multiple of 4");
  // Found by compiling: with 4096 products nvcc 13.0 keeps the accumulators in local memory, a
  // hundred times slower.
  static_assert(
      Tile::kThreadM * Tile::kThreadN * (Tile::kBlockK / Tile::kWarpsK) <= 2048,
      "weft: config.warp.k of simt_async times config.thread.m times config.thread.n is more "
      "than the 2048 products that one stage may unroll; halve config.warp.k and "
      "config.threadblock.k");
  static_assert(kVector * Tile::kOutputBits % (8 * PolicyT::config.alignment.dst) == 0,
                "weft: config.alignment.dst is wider than the columns of C that lie side by side "
                "in a thread, 4 of a float and 2 of a double product");

  // Elements from one k of a stage to the next. Where an operand is K-major, its elements are
  // copied one by one and so transposed: rows that are 16 bytes longer then send eight k of four of
  // the operand's rows to distinct banks.
  static constexpr int kPitchA = Tile::kBlockM + (kKMajorA ? kVector : 0);
  static constexpr int kPitchB = Tile::kBlockN + (kKMajorB ? kVector : 0);
  static constexpr int kBytesA = Tile::kBlockK * kPitchA * Tile::kElementBytes;
  static constexpr int kBytesB = Tile::kBlockK * kPitchB * Tile::kElementBytes;
  static constexpr int kSteps = Tile::kBlockK / Tile::kWarpsK;  // a warp's k of a k tile
  static constexpr int kCopyPoints = kSteps / 4;

  // Registers of a thread with which the kernel does not spill; found by compiling. kWords: those
  // of a thread's accumulators and of the two steps of k that it holds.
  static constexpr int Registers(int) {
    constexpr int kWords =
        (Tile::kThreadM * Tile::kThreadN + 2 * (Tile::kThreadM + Tile::kThreadN)) *
        (Tile::kElementBytes / 4);
    return PolicyT::config.registers > 0 ? PolicyT::config.registers : kWords <= 96 ? 128 : 255;
  }

  // acc[i][j] is element i % kVector of vector i / kVector of the lane's rows, and the same for j
  // and columns.
  using Accumulators = Element[Tile::kThreadM][Tile::kThreadN];
  static_assert(
      CheckedThreadRegisters<int(sizeof(Accumulators) / 4),
                             (Tile::kThreadM + Tile::kThreadN) * (Tile::kElementBytes / 4),
                             Tile::kThreads>::kOk);

  struct MapLayouts {
    static constexpr int kV = kVector, kVectorsM = Tile::kThreadM / kV,
                         kVectorsN = Tile::kThreadN / kV;
    using Accumulators = SimtAsyncMainloop::Accumulators;
    using ThreadRow = typename Tile::template RowOf<kVector>;
    using ThreadColumn = typename Tile::template ColumnOf<kVector>;
    using ValueRow = LayoutOf<Ints<kV, kVectorsM>, Ints<1, Tile::kLanesM * kV>>;
    using ValueColumn = LayoutOf<Ints<kV, kVectorsN>, Ints<1, Tile::kLanesN * kV>>;
    using Register = LayoutOf<Nest<Ints<Tile::kThreadM>, Ints<kV, kVectorsN>>,
                              Nest<Ints<Tile::kThreadN>, Ints<1, kV>>>;
  };
  using Map = LayoutMap<MapLayouts>;

  // As in SimtMainloop, but the elements of a K-major operand are copied one by one, by eight
  // neighbouring threads along k.
  using ColumnsOfB = RowsOfB;
  template <class Rows, int, class By = Tile>
  struct KMajor : Share<By, Rows, Pieces<8, 1, Tile::kBlockK / 8>> {
    static_assert(Tile::kBlockK % 8 == 0,
                  "weft: for an operand along whose lines k runs, config.threadblock.k must be a "
                  "multiple of 8");
    static constexpr int kBytes = Tile::kElementBytes, kCells = 1;
    static constexpr int Offset(int row, int inner, int outer, int) {
      return ((outer * 8 + inner) * (Rows::kIsA ? kPitchA : kPitchB) + row) * kBytes;
    }
  };
  template <class Rows, int kPieceBytes, class By = Tile>
  struct MnMajor : Share<By, Rows, Pieces<1, kPieceBytes / Tile::kElementBytes, Tile::kBlockK>> {
    static constexpr int kBytes = kPieceBytes, kCells = 1;
    static constexpr int Offset(int row, int, int outer, int) {
      return outer * (Rows::kIsA ? kPitchA : kPitchB) * Tile::kElementBytes + row * kBytes;
    }
  };

  // What CpAsyncRing (pipeline.hpp) drives.
  class Fragments : public RingFragments {
   public:
    template <class Stages>
    WEFT_DEVICE Fragments(arch::Thread t, const Stages& shared)
        : Fragments(t, shared.a[0], shared.b[0]) {}
    WEFT_DEVICE Fragments(arch::Thread t, const std::uint8_t* stages_a,
                          const std::uint8_t* stages_b)
        : a_(reinterpret_cast<const Element*>(stages_a) +
             typename Tile::template RowOf<kVector>()(t.tid())),
          b_(reinterpret_cast<const Element*>(stages_b) +
             typename Tile::template ColumnOf<kVector>()(t.tid())) {
      if constexpr (Tile::kWarpsK > 1) {
        const int first = t.tid() / (Tile::kThreads / Tile::kWarpsK) * kSteps;  // k of the part
        a_ += first * kPitchA;
        b_ += first * kPitchB;
      }
    }

    WEFT_DEVICE void First(arch::Thread t) { Load(t, 0, 0); }

    template <int kStep, class Copies>
    WEFT_DEVICE void Step(arch::Thread t, int stage, Accumulators& acc, const Copies& copies) {
      Load(t, stage, (kStep + 1) % kSteps);
      if constexpr (kStep % (kSteps / kCopyPoints) == 0 && kStep + 1 < kSteps) {
        copies(kStep / (kSteps / kCopyPoints), kCopyPoints);
      }
      t.FmaOuter(acc, operands_[kStep % 2].a, operands_[kStep % 2].b);
    }

   private:
    // A thread's rows of A and columns of B for one k.
    struct Operands {
      Element a[Tile::kThreadM], b[Tile::kThreadN];
    };

    WEFT_DEVICE void Load(arch::Thread t, int stage, int k) {
      Operands& to = operands_[k % 2];
      const Element* a = a_ + stage * (kBytesA / Tile::kElementBytes) + k * kPitchA;
      const Element* b = b_ + stage * (kBytesB / Tile::kElementBytes) + k * kPitchB;
      LoadVectors<Tile::kLanesM>(t, a, to.a);
      LoadVectors<Tile::kLanesN>(t, b, to.b);
    }

    template <int kLanes, int kCount>
    WEFT_DEVICE static void LoadVectors(arch::Thread t, const Element* from,
                                        Element (&to)[kCount]) {
      using Vector = SharedVector<Element, kVector>;
      WEFT_UNROLL
      for (int v = 0; v < kCount / kVector; ++v) {
        const Vector vector =
            t.LoadShared(reinterpret_cast<const Vector*>(from + v * kLanes * kVector));
        WEFT_UNROLL
        for (int e = 0; e < kVector; ++e) to[v * kVector + e] = vector.value[e];
      }
    }

    const Element *a_, *b_;
    Operands operands_[2];
  };

  // acc += A B of `stages` >= 1 stages that have all landed and lie side by side.
  WEFT_DEVICE static void MultiplyStages(arch::Thread t, const std::uint8_t* stages_a,
                                         const std::uint8_t* stages_b, int stages,
                                         Accumulators& acc) {
    Fragments fragments(t, stages_a, stages_b);
    fragments.First(t);
    WEFT_NO_UNROLL
    for (int stage = 0; stage < stages; ++stage) {
      const int next = stage + 1 < stages ? stage + 1 : stage;  // what it loads last is not used
      UnrolledSteps<kSteps>([&](auto step) {
        fragments.template Step<step()>(t, step() + 1 == kSteps ? next : stage, acc,
                                        [](int, int) {});
      });
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
