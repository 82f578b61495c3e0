// The mma_sm80 mainloop: tensor cores (m16n8k32 of int8, m16n8k64 of int4, m16n8k16 of 16-bit
// floats) over a ring of cp.async buffers.
//
// While the tensor cores multiply the fragments of one k group (mma_shared.hpp), the warp loads
// those of the next and starts the copies of a slice kStages - 1 ahead.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/arch/kernel.hpp"
#include "weft/gemm/mma_shared.hpp"
#include "weft/gemm/pipeline.hpp"
#include "weft/gemm/share.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {

inline namespace WEFT_BACKEND {

// kInt4B: operand B is int4. Its stages hold half the bytes, which a warp expands after it has
// loaded them. kPairs: both operands are of 4 bits, pairs of which are what int8 are elsewhere: a k
// group has 64 of them.
template <class P, bool kMatrix, bool kInt4B = false, bool kPairs = false>
struct MmaSm80Mainloop : FragmentTile<P, kMatrix, 16, kInt4B ? 16 : 32> {
  using T = FragmentTile<P, kMatrix, 16, kInt4B ? 16 : 32>;
  using Pipeline = gemm::CpAsyncRing<MmaSm80Mainloop>;
  static constexpr arch::Requires kRequires = {.min = 80};
  static constexpr int kStages = P::config.stages, kSteps = T::kGroups;
  static constexpr int kCopyPoints = 2;  // the copies of A, those of B

  // A policy may say how many adjacent columns a thread holds (kRun below).
  static constexpr bool kOwnRun = requires { P::kRun; };
  static_assert(
      T::kWarpM % 16 == 0 &&
          (T::kWarpN % 32 == 0 || T::kWarpN == 16 || (kOwnRun && T::kWarpN % 16 == 0)) &&
          T::kBlockK * T::kElementBytes % 32 == 0,
      "weft: config.warp must be a multiple of 16 in m and 16 or a multiple of 32 in n, and "
      "threadblock.k a multiple of 32 int8 or 16 16-bit floats");
  static_assert(kStages >= 3, "weft: the mma_sm80 mainloop has config.stages of 3 or more");
  static_assert((T::kWarpN == 16 ? 4 : 8) * T::kOutputBits % (8 * P::config.alignment.dst) == 0,
                "weft: config.alignment.dst is wider than the 8 output channels (4 if warp.n is "
                "16) that one thread holds side by side");

  // Adjacent output channels that a thread holds (channel_order.hpp): as many as it can, but of a
  // matrix 16 bytes, so that the four threads of a row write whole sectors together.
  static constexpr int kRun = [] {
    if constexpr (kOwnRun) {
      return P::kRun;
    } else {
      return T::kWarpN % 32 != 0 || (kMatrix && T::kOutputBits == 32) ? 4 : 8;
    }
  }();

  // acc[i * kFragmentsN + j]: the fragment of rows 16 i and columns 8 j of the warp's tile.
  using Sum = std::conditional_t<T::kElementBytes == 1, std::int32_t, float>;
  using Accumulators = Sum[T::kFragmentsM * T::kFragmentsN][4];
  static constexpr int kSums = T::kFragmentsM * T::kFragmentsN * 4;

  // Found by compiling: what does not spill. kRows: those of the operands that a thread copies a
  // piece of each; extra: what an operand's walk keeps for a row besides its address, in rows.
  static constexpr int Registers(int extra) {
    constexpr int kRows =
        CeilDiv((T::kBlockM + T::kBlockN) * (32 / P::config.alignment.src), T::kThreads);
    if (P::config.registers > 0) return P::config.registers;
    if (kSums > 64 || kRows > 8) return 232;
    if (kSums > 32) return kRows + extra <= 3 ? 128 : 200;
    return kRows + (extra > 0 ? 1 : 0) <= 3 ? 112 : 168;
  }

  // An instruction gives a lane rows lane / 4 and lane / 4 + 8 and two adjacent columns
  // (arch/fragments.hpp), which ChannelOrder makes kRun adjacent channels of each 4 kRun.
  struct MapLayouts {
    static constexpr int kFn = T::kFragmentsN;
    using Accumulators = MmaSm80Mainloop::Accumulators;
    using Threads = Ints<4, 8, T::kWarpsM, T::kWarpsN>;
    using ThreadRow = LayoutOf<Threads, Ints<0, 1, T::kWarpM, 0>>;
    using ThreadColumn = LayoutOf<Threads, Ints<kRun, 0, 0, T::kWarpN>>;
    using ValueRow = LayoutOf<Ints<2, T::kFragmentsM>, Ints<8, 16>>;
    using ValueColumn = LayoutOf<Ints<kRun, T::kWarpN / (4 * kRun)>, Ints<1, 4 * kRun>>;
    using Register = LayoutOf<
        Nest<Ints<2, T::kFragmentsM>, Nest<Ints<2, kRun / 2>, Ints<T::kWarpN / (4 * kRun)>>>,
        Nest<Ints<2, 4 * kFn>, Nest<Ints<1, 4>, Ints<2 * kRun>>>>;
  };
  using Map = LayoutMap<MapLayouts>;

  // What this mainloop wants of an operand whose pieces of kBytes lie along k of a row, and of one
  // that is transposed on its way. By: the threads that bring it.
  using ColumnsOfB = ChannelsOfB<kRun>;
  template <class Rows, int kBytes, class By = MmaSm80Mainloop>
  using Along = MmaAlong<By, Rows, kBytes>;
  template <class Rows, class By = T>
  struct Transposed : MmaPlace<MmaSm80Mainloop, Rows, 8>,
                      Share<By, Rows, Pieces<4, 4 / T::kElementBytes, T::kGroups>> {};
  // Blocks of int4 (layouts/packed_int4.hpp), k groups of a row. kLines: those of a row are side by
  // side in memory, and neighbouring threads read two.
  template <class Rows, bool kLines, int kPair = kLines&& T::kGroups % 2 == 0 ? 2 : 1>
  struct Int4Blocks : Share<T, Rows, Pieces<kPair, 1, T::kGroups / kPair>> {
    static constexpr int kBytes = 16, kCells = 1;
    static constexpr int Offset(int row, int inner, int outer, int) {
      return Int4Major<T::kBlockN>::Offset(row, outer * kPair + inner);
    }
  };

 private:
  // ldmatrix.x4: lanes 8i to 8i + 7 name the rows of matrix i. For A those are (upper, lower eight
  // rows) x (first, second half of k); for B (first, second half of k) x (two instructions in n). A
  // row of int4 has both halves of k, so that for these B's are four instructions in n.
  class Reader {
   public:
    WEFT_DEVICE Reader(arch::Thread t, std::uint32_t a0, std::uint32_t b0) {
      const int lane = t.lane();
      const int warp_m = t.warp() % T::kWarpsM, warp_n = t.warp() / T::kWarpsM;
      a_ = a0 + T::LayoutA::Offset(warp_m * T::kWarpM + lane % 16, 0, lane / 16);
      if constexpr (kInt4B) {
        b_ = b0 + Int4Major<T::kBlockN>::Offset(warp_n * T::kWarpN + lane % kInt4Rows, 0);
      } else {
        b_ =
            b0 + T::LayoutB::Offset(warp_n * T::kWarpN + lane % 8 + lane / 16 * 8, 0, lane / 8 % 2);
      }
    }

    // Fragment i of rows (j: of two fragments of columns) of group `group`. Stages are 128-byte
    // aligned, so that the stage may be added first.
    WEFT_DEVICE void LoadA(arch::Thread t, int stage, int group, int i,
                           std::uint32_t (&a)[4]) const {
      t.LdMatrixX4(a, T::LayoutA::Fragment(a_ + stage * T::kBytesA, group, i * 16));
    }
    WEFT_DEVICE void LoadB(arch::Thread t, int stage, int group, int j,
                           std::uint32_t (&b)[4]) const {
      t.LdMatrixX4(b, T::LayoutB::Fragment(b_ + stage * T::kBytesB, group, j * 16));
    }
    // All fragments of columns of a group of int4: word j is of instruction j in n.
    WEFT_DEVICE void LoadInt4(arch::Thread t, int stage, int group,
                              std::uint32_t (&words)[T::kFragmentsN]) const {
      WEFT_UNROLL
      for (int j = 0; j < T::kFragmentsN; j += kInt4Rows / 8) {
        const std::uint32_t address =
            b_ + stage * T::kBytesB + Int4Major<T::kBlockN>::Offset(j * 8, group);
        std::uint32_t r[kInt4Rows / 8];
        if constexpr (kInt4Rows == 32) {
          t.LdMatrixX4(r, address);
        } else {
          t.LdMatrixX2(r, address);
        }
        WEFT_UNROLL
        for (int e = 0; e < kInt4Rows / 8; ++e) words[j + e] = r[e];
      }
    }

   private:
    static constexpr int kInt4Rows = T::kWarpN % 32 == 0 ? 32 : 16;  // brought by one ldmatrix
    std::uint32_t a_, b_;
  };

  using FragmentsB = std::uint32_t[T::kFragmentsN / 2][4];  // of two instructions each
  // Those of a group as they lie in shared memory.
  using WordsB = std::conditional_t<kInt4B, std::uint32_t[T::kFragmentsN], FragmentsB>;

  WEFT_DEVICE static void LoadB(arch::Thread t, const Reader& reader, int stage, int group,
                                WordsB& words) {
    if constexpr (kInt4B) {
      reader.LoadInt4(t, stage, group, words);
    } else {
      WEFT_UNROLL
      for (int j = 0; j < T::kFragmentsN / 2; ++j) reader.LoadB(t, stage, group, j, words[j]);
    }
  }

  WEFT_DEVICE static void ToFragments(const WordsB& words, FragmentsB& b) {
    WEFT_UNROLL
    for (int j = 0; j < T::kFragmentsN / 2; ++j) {
      WEFT_UNROLL
      for (int e = 0; e < 4; ++e) {
        if constexpr (kInt4B) {
          const std::uint32_t word = words[2 * j + e / 2];
          b[j][e] = e % 2 == 0 ? LowerInt4(word) : UpperInt4(word);
        } else {
          b[j][e] = words[j][e];
        }
      }
    }
  }

  WEFT_DEVICE static void MultiplyRow(arch::Thread t, const std::uint32_t (&a)[4],
                                      const FragmentsB& b, int i, Accumulators& acc) {
    WEFT_UNROLL
    for (int j = 0; j < T::kFragmentsN / 2; ++j) {
      const std::uint32_t first[2] = {b[j][0], b[j][1]}, second[2] = {b[j][2], b[j][3]};
      Mma(t, acc[i * T::kFragmentsN + 2 * j], a, first);
      Mma(t, acc[i * T::kFragmentsN + 2 * j + 1], a, second);
    }
  }

 public:
  // sum += a b, of one instruction.
  WEFT_DEVICE static void Mma(arch::Thread t, Sum (&sum)[4], const std::uint32_t (&a)[4],
                              const std::uint32_t (&b)[2]) {
    if constexpr (kPairs && std::is_same_v<typename P::Element, std::int8_t>) {
      t.MmaM16N8K64S4(sum, a, b, sum);
    } else if constexpr (kPairs) {
      t.MmaM16N8K64U4S4(sum, a, b, sum);
    } else if constexpr (std::is_same_v<typename P::Element, std::int8_t>) {
      t.MmaM16N8K32S8(sum, a, b, sum);
    } else if constexpr (std::is_same_v<typename P::Element, std::uint8_t>) {
      t.MmaM16N8K32U8S8(sum, a, b, sum);
    } else if constexpr (std::is_same_v<typename P::Element, Half>) {
      t.MmaM16N8K16F16(sum, a, b, sum);
    } else {
      t.MmaM16N8K16Bf16(sum, a, b, sum);
    }
  }

  // A warp's rows of A in registers: of each group of k and 16 rows what one instruction takes
  // (arch/fragments.hpp).
  using FragmentsA = std::uint32_t[T::kGroups][T::kFragmentsM][4];

  // acc += A B of one stage that has arrived for all threads; a, b: its 32-bit addresses.
  WEFT_DEVICE static void Multiply(arch::Thread t, std::uint32_t a, std::uint32_t b,
                                   Accumulators& acc) {
    const Reader reader(t, a, b);
    MultiplyGroups(t, reader, acc, [&](int group, int i, std::uint32_t(&fragment)[4]) {
      reader.LoadA(t, 0, group, i, fragment);
    });
  }
  WEFT_DEVICE static void Multiply(arch::Thread t, const FragmentsA& a, std::uint32_t b,
                                   Accumulators& acc) {
    MultiplyGroups(t, Reader(t, 0, b), acc, [&](int group, int i, std::uint32_t(&fragment)[4]) {
      WEFT_UNROLL
      for (int r = 0; r < 4; ++r) fragment[r] = a[group][i][r];
    });
  }

 private:
  // load_a(group, i, a): fragment i of A's rows.
  template <class LoadA>
  WEFT_DEVICE static void MultiplyGroups(arch::Thread t, const Reader& reader, Accumulators& acc,
                                         const LoadA& load_a) {
    WEFT_UNROLL
    for (int group = 0; group < T::kGroups; ++group) {
      WordsB words_b;
      FragmentsB fragments_b;
      LoadB(t, reader, 0, group, words_b);
      ToFragments(words_b, fragments_b);
      WEFT_UNROLL
      for (int i = 0; i < T::kFragmentsM; ++i) {
        std::uint32_t fragment_a[4];
        load_a(group, i, fragment_a);
        MultiplyRow(t, fragment_a, fragments_b, i, acc);
      }
    }
  }

 public:
  // What CpAsyncRing (pipeline.hpp) drives: the same, with the loads and the copies between the
  // instructions.
  class Held {
    // Whether operand B's fragments too are loaded one group ahead. Threads with few accumulators
    // share the multiprocessor with enough others to hide that latency, and lack the registers.
    static constexpr bool kPrefetchB = kSums > 64;

   public:
    template <class Stages>
    WEFT_DEVICE Held(arch::Thread t, const Stages& shared)
        : reader_(t, t.SharedAddress(shared.a), t.SharedAddress(shared.b)) {}

    WEFT_DEVICE void First(arch::Thread t) {
      WEFT_UNROLL
      for (int i = 0; i < T::kFragmentsM; ++i) reader_.LoadA(t, 0, 0, i, a_[i]);
      LoadFragments(t, 0, 0);
    }

    template <int kStep>
    WEFT_DEVICE void Before(arch::Thread t, int stage) {
      if (!kPrefetchB) LoadFragments(t, stage, kStep);
    }

    template <int kStep, class Copies>
    WEFT_DEVICE void Step(arch::Thread t, int stage, Accumulators& acc, const Copies& copies) {
      constexpr int kLast = kSteps - 1, kNext = kStep == kLast ? 0 : kStep + 1;
      WordsB next_b;
      if (kPrefetchB) LoadB(t, reader_, stage, kNext, next_b);
      // A row of fragments is replaced by the next group's as soon as it has been used.
      WEFT_UNROLL
      for (int i = 0; i < T::kFragmentsM; ++i) {
        MultiplyRow(t, a_[i], b_, i, acc);
        reader_.LoadA(t, stage, kNext, i, a_[i]);
        if constexpr (kStep == 0 && kLast > 0) {
          if (i == 0) copies(0, 2);
          if (i == T::kFragmentsM / 2) copies(1, 2);
        }
      }
      if (kPrefetchB) ToFragments(next_b, b_);
    }

   private:
    WEFT_DEVICE void LoadFragments(arch::Thread t, int stage, int group) {
      WordsB words;
      LoadB(t, reader_, stage, group, words);
      ToFragments(words, b_);
    }

    Reader reader_;
    std::uint32_t a_[T::kFragmentsM][4];
    FragmentsB b_;
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
