// The mma_sm80 mainloop: tensor cores (m16n8k32 of int8 and 8-bit floats, m16n8k64 of int4,
// m16n8k16 of 16-bit floats, m16n8k8 of tf32, doubles and complex doubles) over a ring of stages
// that are filled by cp.async.
//
// While the tensor cores multiply the fragments of one k group (mma_shared.hpp), the warp loads
// those of the next one and starts the copies of the k tile kStages - 1 ahead. (A step of doubles
// is two groups. Their words are read one by one, as are those of tf32 where operands are
// MN-major.) Where config.warp.k is less than config.threadblock.k, several warps share each k tile
// (sliced_sums.hpp): each adds up its part of the k tiles, and these sums are added in the order of
// k, which matters for floats.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/mainloop/pipeline.hpp"
#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/mma/mma_tile.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/sliced_sums.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {

// A policy that says, as kRun, how many adjacent columns a thread holds; other policies leave that
// to the mainloop.
template <class PolicyT>
concept HasOwnRun = requires { PolicyT::kRun; };

inline namespace WEFT_BACKEND {

// Operands: MmaOperands, or a type that inherits it. An int4 operand B is upcast to 16 times its
// values, in 3 instructions for 8 of them instead of 9. Accumulators are 16 times too large until
// they are complete (Complete), so that 32 bits are enough for as many products as of int8.
template <class PolicyT, class Operands = MmaOperands>
struct MmaSm80Mainloop
    : FragmentTile<PolicyT, Operands, 16>,
      SlicedSums<MmaSm80Mainloop<PolicyT, Operands>, WarpTile<PolicyT>::kWarpsK> {
  using Tile = FragmentTile<PolicyT, Operands, 16>;
  static constexpr bool kMatrix = Operands::kMatrix, kInt4B = Operands::kInt4B;
  static constexpr bool kKMajorA = Operands::kKMajorA, kKMajorB = Operands::kKMajorB;
  using Pipeline = gemm::CpAsyncRing<MmaSm80Mainloop>;
  static constexpr bool kHasScratch = Tile::kWarpsK > 1;  // SlicedSums
  static constexpr bool kCompletes = kInt4B;
  static constexpr int kStages = PolicyT::config.stages;
  static constexpr bool kDoubles = Tile::kDoubles;
  static constexpr int kSteps =
      (kDoubles ? Tile::kBlockK / 8 : Tile::kGroups) / Tile::kWarpsK;  // a warp's in a k tile
  static constexpr int kCopyPoints = 2;  // one for the copies of A, one for those of B

  static constexpr bool kOwnRun = HasOwnRun<PolicyT>;
  static_assert(
      Tile::kWarpM % 16 == 0 &&
          (Tile::kWarpN % 32 == 0 || Tile::kWarpN == 16 || (kOwnRun && Tile::kWarpN % 16 == 0)) &&
          PolicyT::config.warp.k * Tile::kElementBytes %
                  (kDoubles ? 8 * Tile::kElementBytes : 32) ==
              0,
      "weft: config.warp must be a multiple of 16 in m and 16 or a multiple of 32 in n, and in k a "
      "multiple of 32 int8 or 8-bit floats, 16 16-bit floats, 8 tf32, doubles or complex doubles");
  // Beside residuals of complex numbers, a thread has too few registers for other warps'
  // accumulators.
  static_assert(Tile::kWarpsK == 1 || !(kHalfSums<PolicyT> || (Tile::kElementBytes == 16 &&
                                                               PolicyT::Epilogue::kHasResidual)),
                "weft: config.warp must equal config.threadblock in k where sums are of Half, or "
                "complex with a Residual");
  static_assert(kStages >= 3, "weft: the mma_sm80 mainloop has config.stages of 3 or more");
  // How many adjacent output channels a thread holds (channel_order.hpp): as many as it can, but in
  // a matrix no more than 16 bytes, so that the four threads of a row write whole sectors together.
  static constexpr int kRun = [] {
    if constexpr (kOwnRun) {
      return PolicyT::kRun;
    } else {
      if (Tile::kElementBytes >= 4) return 2;  // rows of B that are copied as they lie are in order
      return Tile::kWarpN % 32 != 0 || (kMatrix && Tile::kOutputBits == 32) ? 4 : 8;
    }
  }();

  static_assert(
      kRun * Tile::kOutputBits % (8 * PolicyT::config.alignment.dst) == 0,
      "weft: config.alignment.dst is wider than the output channels that one thread holds "
      "side by side: 8, 4 if warp.n is 16 or a matrix's outputs have 4 bytes, 2 of tf32 and "
      "doubles");

  // Which warp and lane multiply what. Rows of B lie in shared memory in the order in which the
  // instructions take them; ChannelOrder then makes kRun adjacent channels of every 4 kRun a
  // thread's.
  using Atom = std::conditional_t<
      kHalfSums<PolicyT>, MmaSm80HalfSumAtom,
      std::conditional_t<Operands::kPairs, MmaSm80PairAtom<typename PolicyT::Element>,
                         MmaSm80Atom<typename PolicyT::Element>>>;
  static constexpr arch::Requires kRequires = Atom::kRequires;
  using Tiled = MmaTile<Atom, Ints<Tile::kBlockM, Tile::kBlockN>,
                        Ints<Tile::kWarpsM, Tile::kWarpsN, Tile::kWarpsK>, kRun>;
  using Map = typename Tiled::Map;
  using Sum = typename Tiled::Sum;
  // acc[i * kFragmentsN + j] is the fragment of row 16 i and column 8 j of the warp's tile.
  using Accumulators = typename Tiled::Sums;
  static constexpr int kSums = sizeof(Accumulators) / 4;  // registers
  static_assert(
      CheckedThreadRegisters<kSums,
                             (Tiled::kRegistersA + Tile::kFragmentsN * Tiled::kRegistersB) *
                                 int(sizeof(typename Atom::Word) / 4),
                             Tile::kThreads>::kOk);

  // Registers of a thread with which the kernel does not spill; found by compiling. kRows: how many
  // rows of the operands a thread copies a piece of. extra: what an operand's iterator keeps for
  // each row besides its address, in units of rows.
  static constexpr int Registers(int extra) {
    constexpr int kRows = CeilDiv(
        (Tile::kBlockM + Tile::kBlockN) * (32 / PolicyT::config.alignment.src), Tile::kThreads);
    if (PolicyT::config.registers > 0) return PolicyT::config.registers;
    if (kDoubles) return kSums > 64 ? 255 : kSums > 32 ? 168 : 128;
    if (kSums > 64 || kRows > 8) return 232;
    // From sm_90 on fragments of 8-bit floats become halves, in twice as many registers. K tiles of
    // tf32 have more pieces.
    if (Tile::kElementBytes == 1 && !std::is_same_v<Sum, std::int32_t>)
      return kSums > 32 ? 200 : 168;
    if (Tile::kElementBytes == 4 && kSums <= 32) return 168;
    if (kSums > 32) return kRows + extra <= 3 ? 128 : 200;
    return kRows + (extra > 0 ? 1 : 0) <= 3 ? 112 : 168;
  }

  // How threads share an operand's loads and where a stage has each piece: KMajor for pieces of
  // kBytes along k of a row, MnMajor (doubles and tf32) for pieces along the rows of one k,
  // Transposed for an operand that is transposed on its way. By: the type whose kThreads threads
  // load it.
  using ColumnsOfB = ChannelsOfB<kRun>;
  template <class Rows, int kBytes, class By = MmaSm80Mainloop>
  using KMajor = MmaKMajor<By, Rows, kBytes>;
  template <class Rows, class By = Tile>
  struct Transposed : MmaPlace<MmaSm80Mainloop, Rows, 8>,
                      Share<By, Rows, Pieces<4, 4 / Tile::kElementBytes, Tile::kGroups>> {};
  template <class Rows, int kPieceBytes>
  struct MnMajor : Share<Tile, Rows, Pieces<1, kPieceBytes / Tile::kElementBytes, Tile::kBlockK>> {
    using Layout = std::conditional_t<Rows::kIsA, typename Tile::LayoutA, typename Tile::LayoutB>;
    static constexpr int kBytes = kPieceBytes, kCells = 1;
    static constexpr int Offset(int row, int, int outer, int) {
      return typename Layout::Unswizzled()(row * (kBytes / Tile::kElementBytes),
                                           outer * Tile::kElementBytes);
    }
  };
  // An operand in blocks of int4 (layouts/packed_int4.hpp), k groups of a row. kKMajor: whether a
  // row's blocks are side by side in memory, so that neighbouring threads read two of them.
  template <class Rows, bool kKMajor, int kPair = kKMajor && Tile::kGroups % 2 == 0 ? 2 : 1>
  struct Int4Blocks : Share<Tile, Rows, Pieces<kPair, 1, Tile::kGroups / kPair>> {
    static constexpr int kBytes = 16, kCells = 1;
    static constexpr int Offset(int row, int inner, int outer, int) {
      return Int4Major<Tile::kBlockN>::Offset(row, outer * kPair + inner);
    }
  };

  // How a warp reads a stage of an operand into fragments; a k group is a step of the reader.
  template <bool kKMajor, class Unswizzled, class Layout>
  using ReaderOf = std::conditional_t<
      Tile::template kByWords<kKMajor>,
      WordReader<Unswizzled, Stored<std::uint8_t, typename Layout::Swizzle>, typename Atom::Word>,
      LdMatrixReader<Unswizzled,
                     Stored<std::uint8_t, typename Layout::Swizzle, Layout::kAlignment>>>;
  // What a reader is given: a pointer to the stage, or the stage's 32-bit shared address.
  template <bool kKMajor>
  using StageOf =
      std::conditional_t<Tile::template kByWords<kKMajor>, const std::uint8_t*, std::uint32_t>;
  using StageA = StageOf<kKMajorA>;
  using StageB = StageOf<kKMajorB>;
  using ReaderA =
      ReaderOf<kKMajorA, typename Tiled::template PlacesA<typename Tile::LayoutA::Unswizzled>,
               typename Tile::LayoutA>;

 private:
  using Word = typename Tiled::Word;
  using FragmentsB = Word[Tile::kFragmentsN][2];

  // The reader of an operand B of the multiplied type: shared memory has the fragments' words.
  struct BytesB {
    using Words = FragmentsB;  // of a k group, as in shared memory
    using Reader =
        ReaderOf<kKMajorB, typename Tiled::template PlacesB<typename Tile::LayoutB::Unswizzled>,
                 typename Tile::LayoutB>;
    Reader reader;

    WEFT_DEVICE BytesB(arch::Thread t, StageB stage) : reader(t, stage) {}
    WEFT_DEVICE void LoadWords(arch::Thread t, std::uint32_t further, int group,
                               Words& words) const {
      reader.Load(t, further, group, 0, words);
    }
    WEFT_DEVICE static void ToFragments(const Words& words, FragmentsB& b) {
      WEFT_UNROLL
      for (int j = 0; j < Tile::kFragmentsN; ++j) {
        WEFT_UNROLL
        for (int e = 0; e < 2; ++e) b[j][e] = words[j][e];
      }
    }
  };
  // The reader of an int4 operand B. A word has values of both halves of a k group: word j of a
  // lane is upcast to both words of the fragment of instruction j in n.
  struct Int4B {
    using Words = std::uint32_t[Tile::kFragmentsN];
    using Groups = typename Tiled::GroupsOfB;
    static constexpr int kRows = Tile::kWarpN % 32 == 0 ? 32 : 16;  // rows that one ldmatrix loads
    std::uint32_t at;

    WEFT_DEVICE Int4B(arch::Thread t, std::uint32_t address)
        : at(address +
             static_cast<std::uint32_t>(Int4Major<Tile::kBlockN>::Offset(
                 Groups::Row(t.warp()) + t.lane() % kRows, Groups::Part(t.warp()) * kSteps))) {}
    WEFT_DEVICE void LoadWords(arch::Thread t, std::uint32_t further, int group,
                               Words& words) const {
      WEFT_UNROLL
      for (int j = 0; j < Tile::kFragmentsN; j += kRows / 8) {
        const std::uint32_t address =
            at + further +
            static_cast<std::uint32_t>(Int4Major<Tile::kBlockN>::Offset(j * 8, group));
        std::uint32_t r[kRows / 8];
        if constexpr (kRows == 32) {
          t.LdMatrixX4(r, address);
        } else {
          t.LdMatrixX2(r, address);
        }
        WEFT_UNROLL
        for (int e = 0; e < kRows / 8; ++e) words[j + e] = r[e];
      }
    }
    WEFT_DEVICE static void ToFragments(const Words& words, FragmentsB& b) {
      WEFT_UNROLL
      for (int j = 0; j < Tile::kFragmentsN; ++j) {
        b[j][0] = LowerInt4Times16(words[j]);
        b[j][1] = UpperInt4Times16(words[j]);
      }
    }
  };
  struct ReaderB : std::conditional_t<kInt4B, Int4B, BytesB> {
    using Base = std::conditional_t<kInt4B, Int4B, BytesB>;
    using Base::Base;
    // What TiledMma::MultiplyRead takes.
    static constexpr int kSteps = MmaSm80Mainloop::kSteps;
    WEFT_DEVICE void Load(arch::Thread t, std::uint32_t further, int group, int,
                          FragmentsB& b) const {
      typename Base::Words words;
      this->LoadWords(t, further, group, words);
      Base::ToFragments(words, b);
    }
  };

 public:
  // A warp's rows of A in registers: for each k group and 16 rows, what one instruction takes
  // (arch/isa/fragments.hpp).
  using FragmentsA = Word[kSteps][Tile::kFragmentsM][4];
  struct RegisterReaderA {
    static constexpr int kSteps = MmaSm80Mainloop::kSteps, kAtOnce = 1;
    const FragmentsA& a;
    WEFT_DEVICE void Load(arch::Thread, std::uint32_t, int group, int i,
                          Word (&fragment)[1][4]) const {
      WEFT_UNROLL
      for (int r = 0; r < 4; ++r) fragment[0][r] = a[group][i][r];
    }
  };

  // acc += A B of one stage that has landed for all threads; a, b: its 32-bit shared addresses, or
  // pointers.
  WEFT_DEVICE static void Multiply(arch::Thread t, StageA a, StageB b, Accumulators& acc) {
    Tiled::MultiplyRead(t, ReaderA(t, a), ReaderB(t, b), acc);
  }
  WEFT_DEVICE static void Multiply(arch::Thread t, const FragmentsA& a, StageB b,
                                   Accumulators& acc) {
    Tiled::MultiplyRead(t, RegisterReaderA{a}, ReaderB(t, b), acc);
  }

  // acc += A B of stages that have all landed and lie side by side, or whose A is in registers.
  WEFT_DEVICE static void MultiplyStages(arch::Thread t, const std::uint8_t* stages_a,
                                         const std::uint8_t* stages_b, int stages,
                                         Accumulators& acc) {
    const std::uint32_t a = t.SharedAddress(stages_a), b = t.SharedAddress(stages_b);
    for (int s = 0; s < stages; ++s) {
      Multiply(t, a + static_cast<std::uint32_t>(s * Tile::kBytesA),
               b + static_cast<std::uint32_t>(s * Tile::kBytesB), acc);
    }
  }
  template <int kStagesOfA>
  WEFT_DEVICE static void MultiplyStages(arch::Thread t, const FragmentsA (&stages_a)[kStagesOfA],
                                         const std::uint8_t* stages_b, Accumulators& acc) {
    const std::uint32_t b = t.SharedAddress(stages_b);
    WEFT_UNROLL
    for (int s = 0; s < kStagesOfA; ++s) {
      Multiply(t, stages_a[s], b + static_cast<std::uint32_t>(s * Tile::kBytesB), acc);
    }
  }

  // Accumulators of all k tiles become the product's: with an int4 B they are 16 times too large
  // (kInt4B).
  WEFT_DEVICE static void Complete(Accumulators& acc)
    requires kInt4B
  {
    WEFT_UNROLL
    for (auto& fragment : acc) {
      WEFT_UNROLL
      for (auto& sum : fragment) sum >>= 4;
    }
  }

  // What CpAsyncRing (pipeline.hpp) drives: it multiplies as Multiply does, with the loads of the
  // next fragments and the copies of a later k tile spread among the instructions.
  class Fragments : public RingFragments {
    // Whether operand B's fragments too are loaded one group ahead. Threads with few accumulators
    // share the multiprocessor with enough others to hide that latency, and lack the registers.
    static constexpr bool kPrefetchB = kSums > 64;

   public:
    template <class Stages>
    WEFT_DEVICE Fragments(arch::Thread t, const Stages& shared)
        : reader_a_(t, StageAt<StageA>(t, shared.a[0])),
          reader_b_(t, StageAt<StageB>(t, shared.b[0])) {}

    WEFT_DEVICE void First(arch::Thread t) {
      WEFT_UNROLL
      for (int i = 0; i < Tile::kFragmentsM; ++i) reader_a_.Load(t, 0, 0, i, a_[i]);
      LoadFragments(t, 0, 0);
    }

    template <int kStep>
    WEFT_DEVICE void Before(arch::Thread t, int stage, Accumulators&) {
      if (!kPrefetchB) LoadFragments(t, stage, kStep);
    }

    template <int kStep, class Copies>
    WEFT_DEVICE void Step(arch::Thread t, int stage, Accumulators& acc, const Copies& copies) {
      constexpr int kLast = kSteps - 1, kNext = kStep == kLast ? 0 : kStep + 1;
      typename ReaderB::Words next_b;
      if (kPrefetchB) reader_b_.LoadWords(t, stage * Tile::kBytesB, kNext, next_b);
      // Fragments of A are replaced, 16 rows at a time, by the next group's as soon as they have
      // been used.
      WEFT_UNROLL
      for (int i = 0; i < Tile::kFragmentsM; ++i) {
        Tiled::MultiplyRow(t, a_[i], b_, i, acc);
        reader_a_.Load(t, stage * Tile::kBytesA, kNext, i, a_[i]);
        if constexpr (kStep == 0 && kLast > 0) {
          if (i == 0) copies(0, 2);
          if (i == Tile::kFragmentsM / 2) copies(1, 2);
        }
      }
      if (kPrefetchB) ReaderB::ToFragments(next_b, b_);
    }

   private:
    template <class Stage>
    WEFT_DEVICE static Stage StageAt(arch::Thread t, const std::uint8_t* stage) {
      if constexpr (std::is_pointer_v<Stage>) {
        return stage;
      } else {
        return t.SharedAddress(stage);
      }
    }
    WEFT_DEVICE void LoadFragments(arch::Thread t, int stage, int group) {
      reader_b_.Load(t, stage * Tile::kBytesB, group, 0, b_);
    }

    ReaderA reader_a_;
    ReaderB reader_b_;
    Word a_[Tile::kFragmentsM][4];
    FragmentsB b_;
  };
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
