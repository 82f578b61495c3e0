// How a tile of a product is divided among threads: an atom (mma_atom.hpp) is repeated over the
// tile by groups of threads. MmaTile is the part of a TiledMma (tiled_mma.hpp) that mainloops need,
// with the same template arguments; it is separate because the layout algebra of the rest takes
// long to compile.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/mma/fragment_reader.hpp"
#include "weft/gemm/mma/mma_atom.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/channel_order.hpp"

namespace weft::gemm {

namespace internal {

// Operand A of an atom, and operand B: the thread-value layout of kRows rows x kWords words of
// kWordBytes bytes, each of kElements elements.
template <class Atom>
struct OperandAOf {
  using Tv = typename Atom::LayoutA;
  static constexpr int kWordBytes = sizeof(typename Atom::Word);
  static constexpr int kElements = kWordBytes / static_cast<int>(sizeof(typename Atom::Element));
  static constexpr int kRows = Atom::kM, kWords = Atom::kK / kElements;
};
template <class Atom>
struct OperandBOf : OperandAOf<Atom> {
  using Tv = typename Atom::LayoutB;
  static constexpr int kRows = Atom::kN;
};

// The parts of k of MmaTile's GroupsT.
template <class GroupsT>
constexpr int PartsOfK() {
  if constexpr (layouts::kRank<GroupsT> == 3) {
    return layouts::Get<2>(GroupsT());
  } else {
    return 1;
  }
}

// (thread, accumulator) -> row, and -> column, of an atom's C.
template <class Atom>
using RowsOf = decltype(layouts::Composition(LayoutOf<Ints<Atom::kM, Atom::kN>, Ints<1, 0>>(),
                                             typename Atom::LayoutC()));
template <class Atom>
using ColumnsOf = decltype(layouts::Composition(LayoutOf<Ints<Atom::kM, Atom::kN>, Ints<0, 1>>(),
                                                typename Atom::LayoutC()));

// The map from columns of the instructions to columns of the tile, for the first kPeriod = 4 kRun
// columns; it repeats with that period.
template <int kRun, int kAtomColumns>
struct RunOrder {
  static constexpr int kPeriod = 1;
  using OrderLayout = layouts::Layout<layouts::Int<1>, layouts::Int<0>>;
};
template <int kRun>
  requires(kRun > 2)
struct RunOrder<kRun, 2> {
  static constexpr int kPeriod = 4 * kRun;
  using OrderLayout = typename ChannelOrder<kRun, kPeriod>::Inverse;
  // A lane has columns 2 x and 2 x + 1 of each instruction i; they become columns 2 i and 2 i + 1
  // of its kRun adjacent ones.
  static_assert([] {
    for (int n = 0; n < kPeriod; ++n) {
      if (OrderLayout()(n) != n % 8 / 2 * kRun + n / 8 * 2 + n % 2) return false;
    }
    return true;
  }());
};

// An atom whose accumulators are halves, two to each of a thread's kSumWords 32-bit words.
template <class Atom>
concept PairedSums = requires { Atom::kSumWords; };

// The accumulators of kCount atoms in a thread's registers.
template <class Atom, int kCount>
struct SumRegisters {
  using type = typename Atom::Sum[kCount][layouts::Size<1>(typename Atom::LayoutC())];
};
template <PairedSums Atom, int kCount>
struct SumRegisters<Atom, kCount> {
  using type = std::uint32_t[kCount][Atom::kSumWords];
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// GroupsT = Ints<m, n> or Ints<m, n, parts>: the groups of threads along m and along n, and the
// number of parts into which groups divide k (sliced k); each part has accumulators for the whole
// tile. The threads of the first part come first.
template <class AtomT, class Tile, class GroupsT, int kRunOf>
struct MmaTile {
  using Atom = AtomT;
  using Element = typename Atom::Element;
  using ElementB = typename Atom::ElementB;
  using Sum = typename Atom::Sum;
  using Word = typename Atom::Word;
  static constexpr int kM = layouts::Get<0>(Tile()), kN = layouts::Get<1>(Tile());
  static constexpr int kGroupsM = layouts::Get<0>(GroupsT()), kGroupsN = layouts::Get<1>(GroupsT());
  static constexpr int kPartsOf = internal::PartsOfK<GroupsT>();
  static constexpr int kThreads = Atom::kThreads * kGroupsM * kGroupsN * kPartsOf;
  static constexpr int kGroupM = kM / kGroupsM, kGroupN = kN / kGroupsN;
  static_assert(kGroupM % Atom::kM == 0 && kGroupM * kGroupsM == kM && kGroupN % Atom::kN == 0 &&
                    kGroupN * kGroupsN == kN,
                "weft: TiledMma<Atom, Tile, Groups>: the tile must be a multiple of (groups x the "
                "atom's extents) in m and in n");
  static constexpr int kFragmentsM = kGroupM / Atom::kM, kFragmentsN = kGroupN / Atom::kN;
  static constexpr int kPerWord = sizeof(Word) / sizeof(Element);
  static constexpr int kStepK = Atom::kK;  // elements of k that one atom multiplies
  static constexpr int kRegistersA = layouts::Size<1>(typename Atom::LayoutA());
  static constexpr int kRegistersB = layouts::Size<1>(typename Atom::LayoutB());

  // Where a thread finds A or B in a stage of a mainloop; Unswizzled is the stage's layout
  // without its swizzle (fragment_reader.hpp).
  struct GroupsOfA {
    static constexpr int kParts = kPartsOf, kCount = kGroupsM * kGroupsN * kParts;
    static constexpr int Row(int group) { return group % kGroupsM * kGroupM; }
    static constexpr int Part(int group) { return kParts == 1 ? 0 : group / (kGroupsM * kGroupsN); }
  };
  struct GroupsOfB : GroupsOfA {
    static constexpr int Row(int group) {
      return (kPartsOf == 1 ? group / kGroupsM : group / kGroupsM % kGroupsN) * kGroupN;
    }
  };
  template <class Unswizzled>
  using PlacesA =
      internal::StagePlaces<internal::OperandAOf<Atom>, Unswizzled, GroupsOfA, kFragmentsM>;
  template <class Unswizzled>
  using PlacesB =
      internal::StagePlaces<internal::OperandBOf<Atom>, Unswizzled, GroupsOfB, kFragmentsN>;

 protected:
  using RowsOfC = internal::RowsOf<Atom>;
  using ColumnsOfC = internal::ColumnsOf<Atom>;
  static constexpr int kAtomColumns = layouts::Size<1, 0>(typename Atom::LayoutC());
  static constexpr int kAtomSums = layouts::Size<1>(typename Atom::LayoutC());
  static constexpr int kOwnColumns = kAtomColumns * kFragmentsN;
  static_assert(kRunOf == 0 || (kRunOf == 2 && kAtomColumns == 2) ||
                    (kAtomColumns == 2 && (kRunOf == 4 || kRunOf == 8) &&
                     kGroupN % (kRunOf > 0 ? 4 * kRunOf : 1) == 0),
                "weft: TiledMma's kRun is 0, or with tensor cores 2, 4 or 8 where a warp has a "
                "multiple of 4 kRun columns");
  // A thread has runs of kRun adjacent columns, which begin kRunStep columns apart. The order of
  // columns repeats itself with these runs (channel_order.hpp).
  static constexpr int kRun = kRunOf > 0            ? kRunOf
                              : Atom::kThreads == 1 ? kOwnColumns
                                                    : kAtomColumns;
  static constexpr int kRunStep = Atom::kN * kRun / kAtomColumns;
  using Order = internal::RunOrder<kRun, kAtomColumns>;
  static constexpr int InOrder(int column) {
    return Order::kPeriod == 1 ? column : static_cast<int>(typename Order::OrderLayout()(column));
  }
  static constexpr int kLanes0 = layouts::Size<0, 0>(typename Atom::LayoutC());

 public:
  // Which accumulators a thread holds (accumulators.hpp): its registers have those of one atom next
  // to each other, then the atoms along n, then those along m.
  struct MapLayouts {
    using Accumulators = typename internal::SumRegisters<Atom, kFragmentsM * kFragmentsN>::type;
    using Threads = Ints<kLanes0, Atom::kThreads / kLanes0, kGroupsM, kGroupsN>;
    using ThreadRow = LayoutOf<Threads, Ints<RowsOfC()(1, 0), RowsOfC()(kLanes0, 0), kGroupM, 0>>;
    using ThreadColumn =
        LayoutOf<Threads,
                 Ints<InOrder(ColumnsOfC()(1, 0)), InOrder(ColumnsOfC()(kLanes0, 0)), 0, kGroupN>>;
    using ValueRow = LayoutOf<Ints<kAtomSums / kAtomColumns, kFragmentsM>,
                              Ints<layouts::Get<1, 1>(RowsOfC())(1), Atom::kM>>;
    using ValueColumn = LayoutOf<Ints<kRun, kOwnColumns / kRun>, Ints<1, kRunStep>>;
    using RowRegister = LayoutOf<Ints<kAtomSums / kAtomColumns, kFragmentsM>,
                                 Ints<kAtomColumns, kAtomSums * kFragmentsN>>;
    using ColumnRegister =
        LayoutOf<Nest<Ints<kAtomColumns, kRun / kAtomColumns>, layouts::Int<kOwnColumns / kRun>>,
                 Nest<Ints<1, kAtomSums>, layouts::Int<kAtomSums * kRun / kAtomColumns>>>;
    using Register = decltype(layouts::MakeLayout(RowRegister(), ColumnRegister()));
  };
  using Map = LayoutMap<MapLayouts>;
  using Sums = typename MapLayouts::Accumulators;

  // Accumulates a b into the accumulators of the i-th fragment of rows.
  WEFT_DEVICE static void MultiplyRow(arch::Thread t, const Word (&a)[kRegistersA],
                                      const Word (&b)[kFragmentsN][kRegistersB], int i,
                                      Sums& sums) {
    WEFT_UNROLL
    for (int j = 0; j < kFragmentsN; ++j) Atom::Multiply(t, sums[i * kFragmentsN + j], a, b[j]);
  }

  // sums += a b, for all steps of k. a and b are readers (fragment_reader.hpp, or anything else
  // with a Load of fragments).
  template <class OperandA, class OperandB>
  WEFT_DEVICE static void MultiplyRead(arch::Thread t, const OperandA& a, const OperandB& b,
                                       Sums& sums) {
    static_assert(OperandA::kSteps == OperandB::kSteps,
                  "weft: A (m, k) and B (n, k) of TiledMma::Multiply must have the same k");
    WEFT_UNROLL
    for (int step = 0; step < OperandA::kSteps; ++step) {
      Word fragments_b[kFragmentsN][kRegistersB];
      b.Load(t, 0, step, 0, fragments_b);
      WEFT_UNROLL
      for (int i = 0; i < kFragmentsM; i += OperandA::kAtOnce) {
        Word fragments_a[OperandA::kAtOnce][kRegistersA];
        a.Load(t, 0, step, i, fragments_a);
        WEFT_UNROLL
        for (int e = 0; e < OperandA::kAtOnce; ++e) {
          MultiplyRow(t, fragments_a[e], fragments_b, i + e, sums);
        }
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
