// The simt_async mainloop: fma of floats or doubles over a ring of cp.async buffers.
//
// A stage holds [k][column] of A and of B. Each sum is one fma for every k, in ascending order, as
// in simt.hpp. One step of k stands in registers while the next is loaded, so that few warps with
// many sums each keep the fma units busy.
#pragma once

#include <cstdint>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/arch/kernel.hpp"
#include "weft/gemm/config.hpp"
#include "weft/gemm/pipeline.hpp"
#include "weft/gemm/share.hpp"

namespace weft::gemm {

// As SimtTile (simt.hpp). A lane owns vectors of kVector adjacent columns, 16 bytes, in m and in n:
//   m = warp_m * kWarpM + (v * kLanesM + lane_m) * kVector + e,
//   n = warp_n * kWarpN + (v * kLanesN + lane_n) * kVector + e,   e < kVector,
// so that the vector v of neighbouring lanes is adjacent, in shared memory and in a row of C.
template <class P>
struct SimtAsyncTile {
  using Element = typename P::Element;
  static constexpr SimtAsyncConfig config = P::config;
  static constexpr int kBytes = sizeof(Element);
  static constexpr int kVector = 16 / kBytes;

  static_assert(internal::Divides(config.warp, config.threadblock) &&
                    config.threadblock.k == config.warp.k && config.warp.k % 2 == 0,
                "weft: config.warp must divide config.threadblock in m and n; those of the "
                "simt_async mainloop have the same even k");
  static_assert(internal::Divides(config.thread, config.warp) && config.thread.k == 1,
                "weft: config.thread must divide config.warp in m and n; its k is 1 for float and "
                "double");
  static_assert(
      config.warp.m / config.thread.m * (config.warp.n / config.thread.n) == 32,
      "weft: a warp has 32 threads: (warp.m / thread.m) * (warp.n / thread.n) must be 32");
  static_assert(config.thread.m % kVector == 0 && config.thread.n % kVector == 0,
                "weft: config.thread.m and n must be multiples of 16 bytes, 4 floats or 2 doubles");
  static_assert(config.stages >= 3, "weft: the simt_async mainloop has config.stages of 3 or more");
  static_assert(internal::StoreWidth(config.alignment.dst),
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");
  static_assert(kVector * static_cast<int>(sizeof(typename P::Epilogue::Output)) %
                        config.alignment.dst ==
                    0,
                "weft: config.alignment.dst is wider than the columns of C that lie side by side "
                "in a thread, 4 of a float and 2 of a double product");

  static constexpr int kBlockM = config.threadblock.m, kBlockN = config.threadblock.n;
  static constexpr int kBlockK = config.threadblock.k;
  static constexpr int kWarpM = config.warp.m, kWarpN = config.warp.n;
  static constexpr int kThreadM = config.thread.m, kThreadN = config.thread.n;
  static constexpr int kStages = config.stages;

  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kThreads = kWarpsM * kWarpsN * 32;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  static constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;

  // Columns of a row of a stage. Where k runs along memory, elements are copied one by one and so
  // transposed: rows that are 16 bytes longer send eight k of four lines to distinct banks.
  static constexpr int Pitch(int extent, bool along) { return extent + (along ? kVector : 0); }
  static_assert(std::int64_t{kStages} * kBlockK * ((kBlockM + kBlockN) * kBytes + 32) <= 227 * 1024,
                "weft: config.threadblock and config.stages need more than 227 KB of shared "
                "memory, the most any GPU gives one block");

  // A thread's place: lane (m, n, m, n), warp (m, n), as in simt.hpp.
  static constexpr bool kAlternate = kLanesM > 1 && kLanesN > 1;
  static constexpr int kM0 = kAlternate ? 2 : kLanesM, kN0 = kAlternate ? 2 : 1;
  using Threads = Ints<kM0, kN0, kLanesM / kM0, kLanesN / kN0, kWarpsM, kWarpsN>;
  using RowOf = LayoutOf<Threads, Ints<kVector, 0, kM0 * kVector, 0, kWarpM, 0>>;
  using ColumnOf = LayoutOf<Threads, Ints<0, kVector, 0, kN0 * kVector, 0, kWarpN>>;

  // Words of a thread's sums and of the two steps of k that it holds.
  static constexpr int kHeldWords =
      (kThreadM * kThreadN + 2 * (kThreadM + kThreadN)) * (kBytes / 4);
  // Found by compiling: what does not spill.
  static constexpr int Registers(int) { return kRegisters; }
  static constexpr int kRegisters = config.registers > 0 ? config.registers
                                    : kHeldWords <= 96   ? 128
                                                         : 255;
};

inline namespace WEFT_BACKEND {

// P: its kLinesOfA and kLinesOfB say whether k runs along memory in A, in B.
template <class P, bool kLinesOfA, bool kLinesOfB>
struct SimtAsyncMainloop : SimtAsyncTile<P> {
  using T = SimtAsyncTile<P>;
  using Element = typename P::Element;
  using Sum = Element;
  using Pipeline = gemm::CpAsyncRing<SimtAsyncMainloop>;
  static constexpr arch::Requires kRequires = {.min = 80};
  static constexpr int kPitchA = T::Pitch(T::kBlockM, kLinesOfA);
  static constexpr int kPitchB = T::Pitch(T::kBlockN, kLinesOfB);
  static constexpr int kBytesA = T::kBlockK * kPitchA * T::kBytes;
  static constexpr int kBytesB = T::kBlockK * kPitchB * T::kBytes;
  static constexpr int kSteps = T::kBlockK;
  static constexpr int kCopyPoints = T::kBlockK / 4;
  static_assert(T::kBlockK % 4 == 0, "weft: config.threadblock.k must be a multiple of 4");
  // acc[i][j]: element i % kVector of vector i / kVector of the lane's rows; j likewise.
  using Accumulators = Element[T::kThreadM][T::kThreadN];

  struct MapLayouts {
    static constexpr int kV = T::kVector, kVectorsM = T::kThreadM / kV,
                         kVectorsN = T::kThreadN / kV;
    using Sum = Element;
    using Accumulators = SimtAsyncMainloop::Accumulators;
    using ThreadRow = typename T::RowOf;
    using ThreadColumn = typename T::ColumnOf;
    using ValueRow = LayoutOf<Ints<kV, kVectorsM>, Ints<1, T::kLanesM * kV>>;
    using ValueColumn = LayoutOf<Ints<kV, kVectorsN>, Ints<1, T::kLanesN * kV>>;
    using Register = LayoutOf<Nest<Ints<T::kThreadM>, Ints<kV, kVectorsN>>,
                              Nest<Ints<T::kThreadN>, Ints<1, kV>>>;
  };
  using Map = LayoutMap<MapLayouts>;

  // As SimtMainloop's, but the elements of a line are copied one by one, eight neighbours along k.
  using ColumnsOfB = RowsOfB;
  template <class Rows, int>
  struct Along : Share<T::kThreads, Pieces<8, Rows::template kExtent<T>, T::kBlockK / 8>, Rows> {
    static_assert(T::kBlockK % 8 == 0,
                  "weft: for an operand along whose lines k runs, config.threadblock.k must be a "
                  "multiple of 8");
    static constexpr int kBytes = T::kBytes, kCells = 1;
    static constexpr int Offset(int row, int inner, int outer, int) {
      return ((outer * 8 + inner) * T::Pitch(Along::kExtent, true) + row) * kBytes;
    }
  };
  template <class Rows, int kPieceBytes>
  struct Across
      : Share<T::kThreads,
              Pieces<1, Rows::template kExtent<T> * T::kBytes / kPieceBytes, T::kBlockK>, Rows> {
    static constexpr int kBytes = kPieceBytes, kCells = 1;
    static constexpr int Offset(int row, int, int outer, int) {
      return outer * T::Pitch(Rows::template kExtent<T>, false) * T::kBytes + row * kPieceBytes;
    }
  };

  // What CpAsyncRing (pipeline.hpp) drives.
  class Held {
   public:
    template <class Stages>
    WEFT_DEVICE Held(arch::Thread t, const Stages& shared)
        : a_(reinterpret_cast<const Element*>(shared.a[0]) + typename T::RowOf()(t.tid())),
          b_(reinterpret_cast<const Element*>(shared.b[0]) + typename T::ColumnOf()(t.tid())) {}

    template <class Stages>
    WEFT_DEVICE void First(arch::Thread t, const Stages&) {
      Load(t, 0, 0);
    }
    template <int kStep, class Stages>
    WEFT_DEVICE void Before(arch::Thread, const Stages&, int) {}

    template <int kStep, class Stages, class Copies>
    WEFT_DEVICE void Step(arch::Thread t, const Stages&, int stage, Accumulators& acc,
                          const Copies& copies) {
      Load(t, stage, (kStep + 1) % kSteps);
      if constexpr (kStep % (kSteps / kCopyPoints) == 0 && kStep + 1 < kSteps) {
        copies(kStep / (kSteps / kCopyPoints), kCopyPoints);
      }
      t.FmaOuter(acc, operands_[kStep % 2].a, operands_[kStep % 2].b);
    }

   private:
    // A thread's share of one step of k.
    struct Operands {
      Element a[T::kThreadM], b[T::kThreadN];
    };

    WEFT_DEVICE void Load(arch::Thread t, int stage, int k) {
      Operands& to = operands_[k % 2];
      const Element* a = a_ + stage * (kBytesA / T::kBytes) + k * kPitchA;
      const Element* b = b_ + stage * (kBytesB / T::kBytes) + k * kPitchB;
      LoadVectors<T::kLanesM>(t, a, to.a);
      LoadVectors<T::kLanesN>(t, b, to.b);
    }

    struct alignas(16) Vector {
      Element element[T::kVector];
    };
    template <int kLanes, int kCount>
    WEFT_DEVICE static void LoadVectors(arch::Thread t, const Element* from,
                                        Element (&to)[kCount]) {
      WEFT_UNROLL
      for (int v = 0; v < kCount / T::kVector; ++v) {
        const Vector vector =
            t.LoadShared(reinterpret_cast<const Vector*>(from + v * kLanes * T::kVector));
        WEFT_UNROLL
        for (int e = 0; e < T::kVector; ++e) to[v * T::kVector + e] = vector.element[e];
      }
    }

    const Element *a_, *b_;
    Operands operands_[2];
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
