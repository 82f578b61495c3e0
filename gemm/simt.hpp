// The simt mainloop: int8 dot products by dp4a, or floats and doubles by fma.
//
// A stage holds k groups, [group][column]: what one instruction takes of a row of A or a column of
// B, which is four int8, one float or one double. Each float sum is one fma for every k, in
// ascending order.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/arch/kernel.hpp"
#include "weft/gemm/config.hpp"
#include "weft/gemm/operand.hpp"
#include "weft/gemm/pipeline.hpp"

namespace weft::gemm {

// How a threadblock tile is divided among warps and threads; instantiating this checks P::config
// for P::Element and P::Epilogue::Output, each failure is one sentence.
//
// The lanes of a warp form a kLanesM x kLanesN grid. A lane owns
//   rows    m = warp_m * kWarpM + lane_m + kLanesM * i, i < kThreadM   (strided), and
//   columns n = warp_n * kWarpN + lane_n * kThreadN + j, j < kThreadN  (adjacent):
// neighbouring lanes hold neighbouring pixels, and one lane holds adjacent channels, which is what
// makes the stores of every output format whole 32-byte sectors.
//
// Where config.warp.k is less than config.threadblock.k, kWarpsK warps share each warp tile, every
// one multiplying its part of the slice ("sliced k"): more threads for a small output.
template <class P>
struct SimtTile {
  using Element = typename P::Element;
  static constexpr SimtConfig config = P::config;
  static constexpr int kGroupBytes = sizeof(Element) == 1 ? 4 : sizeof(Element);
  static constexpr int kGroupElements = kGroupBytes / static_cast<int>(sizeof(Element));

  static_assert(internal::Divides(config.warp, config.threadblock),
                "weft: config.warp must divide config.threadblock in m, n and k");
  static_assert(internal::Divides({config.thread.m, config.thread.n, kGroupElements},
                                  config.warp) &&
                    config.thread.k == kGroupElements,
                "weft: config.thread must divide config.warp in m and n, with thread.k = 4 (one "
                "dp4a) for int8 and 1 for float and double, and warp.k a multiple of it");
  static_assert(
      config.warp.m / config.thread.m * (config.warp.n / config.thread.n) == 32,
      "weft: a warp has 32 threads: (warp.m / thread.m) * (warp.n / thread.n) must be 32");
  static_assert(config.thread.n % 4 == 0 && (config.thread.m == 2 || config.thread.m % 4 == 0),
                "weft: config.thread.n must be a multiple of 4 (one dst word), and thread.m 2 or a "
                "multiple of 4");
  static_assert(internal::StoreWidth(config.alignment.dst),
                "weft: config.alignment.dst is 1, 2, 4, 8 or 16 bytes");
  static_assert(config.thread.n * static_cast<int>(sizeof(typename P::Epilogue::Output)) %
                        config.alignment.dst ==
                    0,
                "weft: config.alignment.dst is wider than the config.thread.n output channels that "
                "one thread holds");

  static constexpr int kBlockM = config.threadblock.m, kBlockN = config.threadblock.n;
  static constexpr int kBlockK = config.threadblock.k;
  static constexpr int kWarpM = config.warp.m, kWarpN = config.warp.n;
  static constexpr int kThreadM = config.thread.m, kThreadN = config.thread.n;
  static constexpr int kGroups = kBlockK / kGroupElements;
  static constexpr int kStages = 2;

  static constexpr int kWarpsM = kBlockM / kWarpM, kWarpsN = kBlockN / kWarpN;
  static constexpr int kWarpsK = kBlockK / config.warp.k;
  static constexpr int kPartThreads = kWarpsM * kWarpsN * 32;  // of one part of the slice
  static constexpr int kThreads = kPartThreads * kWarpsK;
  static constexpr int kLanesM = kWarpM / kThreadM, kLanesN = kWarpN / kThreadN;
  static_assert(kThreads <= 1024, "weft: config.threadblock / config.warp gives over 1024 threads");
  static constexpr bool CoversSlice(int threads) {
    return kBlockM % threads == 0 || (threads % kBlockM == 0 && kGroups % (threads / kBlockM) == 0);
  }
  static_assert(CoversSlice(kThreads),
                "weft: config.threadblock has too many threads for its k extent: threads and "
                "threadblock.m must divide one another, and threads / threadblock.m must divide "
                "the k groups of threadblock.k (k / 4 for int8)");
  static_assert(std::int64_t{2} * kGroups * kGroupBytes * (kBlockM + kBlockN) <= 227 * 1024,
                "weft: config.threadblock and config.stages need more than 227 KB of shared "
                "memory, the most any GPU gives one block");

  // k groups of A and of B that a thread reads from shared memory at once.
  static constexpr int kVectorN = 16 / kGroupBytes;
  static constexpr int kVectorM = kThreadM < kVectorN ? kThreadM : kVectorN;

  // A thread's place: lane (m, n, m, n), warp (m, n, k). Of floats neighbouring lanes alternate in
  // m and n: shared memory then serves half a warp's 16-byte reads at once, of A (lanes l and l ^ 2
  // read the same) and of B (l, l ^ 1).
  static constexpr bool kAlternate = kGroupElements == 1 && kLanesM > 1 && kLanesN > 1;
  static constexpr int kM0 = kAlternate ? 2 : kLanesM, kN0 = kAlternate ? 2 : 1;
  using Threads = Ints<kM0, kN0, kLanesM / kM0, kLanesN / kN0, kWarpsM, kWarpsN, kWarpsK>;
  template <int kScale>
  using RowOf = LayoutOf<Threads, Ints<kScale, 0, kM0 * kScale, 0, kWarpM, 0, 0>>;
  using ColumnOf = LayoutOf<Threads, Ints<0, kThreadN, 0, kN0 * kThreadN, 0, kWarpN, 0>>;

  // Column m of the tile -> its place in a row of A's stage. Threads read vectors of kVectorM
  // columns that are kLanesM apart in m, so those are put side by side. Writers with consecutive m
  // then hit distinct banks, and readers with consecutive lanes read adjacent vectors.
  using PositionA = LayoutOf<Ints<kLanesM, kVectorM, kThreadM / kVectorM, kWarpsM>,
                             Ints<kVectorM, 1, kVectorM * kLanesM, kWarpM>>;

  // Words of a slice that a thread holds on their way to shared memory, and those of its sums.
  static constexpr int kStaged =
      (CeilDiv(kGroups * kBlockM, kThreads) + CeilDiv(kGroups * kBlockN, kThreads)) *
      (kGroupBytes / 4);
  static constexpr int kSums = kThreadM * kThreadN * (kGroupBytes / 4);
  // Found by compiling: what does not spill.
  static constexpr int Registers(int) { return kRegisters; }
  static constexpr int kRegisters = config.registers > 0             ? config.registers
                                    : kSums > 64 || kGroupBytes == 8 ? 232
                                    : kGroupElements == 1            ? (kStaged <= 12 ? 128 : 168)
                                    : kSums < 64                     ? (kStaged <= 12 ? 96 : 128)
                                    : kStaged <= 8 && kBlockN <= kBlockM ? 128
                                    : kStaged <= 16                      ? 160
                                                                         : 168;
};

// Where pieces of kPieceBytes go (operand.hpp). T: a SimtTile.
//
// Pieces along k, of one row.
template <class T, class Rows, int kPieceBytes>
struct SimtPlaceAlong {
  static constexpr int kBytes = kPieceBytes, kCells = kPieceBytes / T::kGroupBytes;
  static constexpr int Offset(int row, int, int outer, int cell) {
    const int group = outer * kCells + cell;
    if constexpr (Rows::kIsA) {
      return (group * T::kBlockM + typename T::PositionA()(row)) * T::kGroupBytes;
    } else {
      return (group * T::kBlockN + row) * T::kGroupBytes;
    }
  }
};
// Pieces of several rows, of one k group.
template <class T, class Rows, int kPieceBytes>
struct SimtPlaceAcross {
  static constexpr int kLines = kPieceBytes / T::kGroupBytes;
  static constexpr int kBytes = kPieceBytes, kCells = Rows::kIsA ? kLines : 1;
  static constexpr int Offset(int row, int, int outer, int cell) {
    if constexpr (Rows::kIsA) {
      return (outer * T::kBlockM + typename T::PositionA()(row * kLines + cell)) * T::kGroupBytes;
    } else {
      return (outer * T::kBlockN + row * kLines) * T::kGroupBytes;
    }
  }
};

inline namespace WEFT_BACKEND {

template <class P>
struct SimtMainloop : SimtTile<P> {
  using T = SimtTile<P>;
  using Pipeline = gemm::DoubleBuffer<SimtMainloop>;
  static constexpr arch::Requires kRequires = {.min = 75};
  static constexpr bool kInt8 = T::kGroupElements == 4;
  using Group = std::conditional_t<kInt8, std::uint32_t, typename P::Element>;
  using Sum = std::conditional_t<kInt8, std::int32_t, typename P::Element>;
  static constexpr int kBytesA = T::kGroups * T::kBlockM * T::kGroupBytes;
  static constexpr int kBytesB = T::kGroups * T::kBlockN * T::kGroupBytes;
  // acc[i][j]: row i and column j of a thread.
  using Accumulators = Sum[T::kThreadM][T::kThreadN];

  // Which outputs a thread holds (accumulators.hpp).
  struct MapLayouts {
    using Sum = SimtMainloop::Sum;
    using Accumulators = SimtMainloop::Accumulators;
    using ThreadRow = typename T::template RowOf<1>;
    using ThreadColumn = typename T::ColumnOf;
    using ValueRow = LayoutOf<Ints<T::kThreadM>, Ints<T::kLanesM>>;
    using ValueColumn = LayoutOf<Ints<T::kThreadN, 1>, Ints<1, 0>>;
    using Register = LayoutOf<Nest<Ints<T::kThreadM>, Ints<T::kThreadN, 1>>,
                              Nest<Ints<T::kThreadN>, Ints<1, 0>>>;
  };
  using Map = LayoutMap<MapLayouts>;

  // Sums of the warps that multiply later parts of a slice, on their way to those of the first.
  struct Scratch {
    Sum sum[T::kWarpsK > 1 ? T::kWarpsK - 1 : 1][T::kWarpsK > 1 ? T::kThreadM* T::kThreadN : 1]
           [T::kPartThreads];
  };

  // acc += A B of one stage.
  WEFT_DEVICE static void Multiply(arch::Thread t, const std::uint8_t* stage_a,
                                   const std::uint8_t* stage_b, Accumulators& acc) {
    using VectorA = Vector<T::kVectorM>;
    using VectorB = Vector<T::kVectorN>;
    constexpr int kPartGroups = T::kGroups / T::kWarpsK;
    const int first = t.tid() / T::kPartThreads * kPartGroups;
    const int column_a = typename T::template RowOf<T::kVectorM>()(t.tid());
    const int column_b = typename T::ColumnOf()(t.tid());
    const auto* a = reinterpret_cast<const Group*>(stage_a) + first * T::kBlockM + column_a;
    const auto* b = reinterpret_cast<const Group*>(stage_b) + first * T::kBlockN + column_b;
    WEFT_UNROLL
    for (int k = 0; k < kPartGroups; ++k) {
      Group row_a[T::kThreadM], row_b[T::kThreadN];
      WEFT_UNROLL
      for (int i = 0; i < T::kThreadM; i += T::kVectorM) {
        const VectorA v =
            t.LoadShared(reinterpret_cast<const VectorA*>(a + k * T::kBlockM + i * T::kLanesM));
        WEFT_UNROLL
        for (int e = 0; e < T::kVectorM; ++e) row_a[i + e] = v.group[e];
      }
      WEFT_UNROLL
      for (int j = 0; j < T::kThreadN; j += T::kVectorN) {
        const VectorB v = t.LoadShared(reinterpret_cast<const VectorB*>(b + k * T::kBlockN + j));
        WEFT_UNROLL
        for (int e = 0; e < T::kVectorN; ++e) row_b[j + e] = v.group[e];
      }
      if constexpr (kInt8) {
        t.template Dp4aOuter<T::kThreadM, T::kThreadN>(acc, row_a, row_b);
      } else {
        t.FmaOuter(acc, row_a, row_b);
      }
    }
  }

  // After the last slice: adds up the sums of the warps that share a tile. Returns whether acc then
  // holds this thread's share of the result: all threads do, but where warps share a tile only
  // those of the first part.
  WEFT_DEVICE static bool Finish(arch::Thread t, Scratch& scratch, Accumulators& acc) {
    if constexpr (T::kWarpsK == 1) {
      return true;
    } else {
      return Reduce(t, scratch, acc);
    }
  }

  // What this mainloop wants of an operand whose pieces of kBytes lie along k of a row, or across
  // the rows of one k group; and of one that is transposed on its way.
  using ColumnsOfB = RowsOfB;
  template <class Rows, int kBytes>
  struct Along
      : SimtPlaceAlong<T, Rows, kBytes>,
        Share<T::kThreads,
              Pieces<1, Rows::template kExtent<T>, T::kGroups * T::kGroupBytes / kBytes>, Rows> {
    static_assert(T::kGroups * T::kGroupBytes % kBytes == 0,
                  "weft: config.alignment.src is wider than config.threadblock.k elements");
  };
  template <class Rows, int kBytes>
  struct Across
      : SimtPlaceAcross<T, Rows, kBytes>,
        Share<T::kThreads,
              Pieces<1, Rows::template kExtent<T> * T::kGroupBytes / kBytes, T::kGroups>, Rows> {
    static_assert(Rows::template kExtent<T> * T::kGroupBytes % kBytes == 0);
  };
  template <class Rows>
  struct Transposed
      : SimtPlaceAlong<T, Rows, 4>,
        Share<T::kThreads, Pieces<1, Rows::template kExtent<T> / 4, T::kGroups>, Rows> {};

 private:
  WEFT_DEVICE static bool Reduce(arch::Thread t, Scratch& scratch, Accumulators& acc) {
    const int part = t.tid() / T::kPartThreads, thread = t.tid() % T::kPartThreads;
    t.SyncThreads();  // the stages are no longer read
    if (part > 0) {
      WEFT_UNROLL
      for (int e = 0; e < T::kThreadM * T::kThreadN; ++e) {
        t.StoreShared(&scratch.sum[part - 1][e][thread], acc[e / T::kThreadN][e % T::kThreadN]);
      }
    }
    t.SyncThreads();
    if (part > 0) return false;
    WEFT_UNROLL
    for (int other = 0; other < T::kWarpsK - 1; ++other) {
      WEFT_UNROLL
      for (int e = 0; e < T::kThreadM * T::kThreadN; ++e) {
        acc[e / T::kThreadN][e % T::kThreadN] += t.LoadShared(&scratch.sum[other][e][thread]);
      }
    }
    return true;
  }

  template <int kCount>
  struct alignas(T::kGroupBytes* kCount) Vector {
    Group group[kCount];
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
