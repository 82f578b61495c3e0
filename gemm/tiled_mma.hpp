// TiledMma: an atom (mma_atom.hpp) repeated over a tile by groups of threads. It says, as
// thread-value layouts of layouts/, which elements of A, B and C each thread has; from these come a
// mainloop's map and reads as well as what users write (docs/tiled.md):
//
//     using Mma = gemm::TiledMma<gemm::MmaSm80Atom<std::int8_t>, Ints<64, 64>, Ints<2, 2>>;
//     auto sums = Mma::MakeFragmentC();             // 0
//     Mma::Multiply(t, a, b, sums);                 // sums += a b; a, b: views of shared memory
//     gemm::Copy(t, store, sums, c, where);         // tiled_copy.hpp
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/accumulators.hpp"
#include "weft/gemm/channel_order.hpp"
#include "weft/gemm/fragment_reader.hpp"
#include "weft/gemm/mma_atom.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

namespace internal {

// `layout` sends to indices of a kRows x kColumns matrix, rows first: to those of the same place in
// a matrix of rows kTo apart, whose columns are kEach columns.
template <int kRows, int kColumns, int kTo, int kEach, class L>
constexpr auto InTile(L layout) {
  return layouts::Composition(LayoutOf<Ints<kRows, kColumns>, Ints<1, kTo * kEach>>(), layout);
}

// `layout` with every index i of a matrix of kRows rows as that of column columns(i / kRows).
template <int kRows, class L, class Columns>
constexpr auto WithColumns(L layout, Columns columns) {
  const auto scaled = layouts::Composition(
      layouts::MakeLayout(layouts::Size(columns), layouts::Int<kRows>()), columns);
  return layouts::Composition(
      layouts::MakeLayout(LayoutOf<layouts::Int<kRows>, layouts::Int<1>>(), scaled), layout);
}

// A view's layout is known but for where it begins.
template <class L>
struct StaticView {
  static constexpr bool kOk = layouts::IsStatic<L>;
  using Swizzle = NoSwizzle;
  using Offset = layouts::Int<0>;
  using Layout = L;
  static constexpr Offset OffsetOf(const L&) { return {}; }
};
template <class Sw, class O, class L>
struct StaticView<layouts::ComposedLayout<Sw, O, L>> {
  static constexpr bool kOk = layouts::IsStatic<L>;
  using Swizzle = Sw;
  using Offset = O;
  using Layout = L;
  static constexpr O OffsetOf(const layouts::ComposedLayout<Sw, O, L>& c) { return c.offset(); }
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// Operand fragments that are in registers already, as a reader of them.
template <class Fragment, int kRegistersOf, int kFragmentsOf>
struct RegisterReader {
  static constexpr int kAtOnce = 1;
  static constexpr int kSteps = static_cast<int>(layouts::Size(typename Fragment::Layout())) /
                                (kRegistersOf * kFragmentsOf);
  const Fragment& from;

  template <int kCount>
  WEFT_DEVICE void Load(arch::Thread, std::uint32_t, int step, int first,
                        typename Fragment::Element (&fragments)[kCount][kRegistersOf]) const {
    WEFT_UNROLL
    for (int w = 0; w < kCount * kRegistersOf; ++w) {
      fragments[w / kRegistersOf][w % kRegistersOf] =
          from(w % kRegistersOf, first + w / kRegistersOf, step);
    }
  }
};

// Tile: Ints<m, n>, of C. Groups: Ints<m, n>, the groups of threads among which it is divided, each
// of the atom's threads (warps for tensor cores), those along m next to each other; each group has
// adjacent rows and columns. kRun: adjacent columns that a thread holds, 2, 4 or 8 with tensor
// cores, for wider stores (channel_order.hpp); 0: as the instruction has them.
template <class AtomT, class Tile, class GroupsT, int kRunOf = 0>
struct TiledMma {
  using Atom = AtomT;
  using Element = typename Atom::Element;
  using ElementB = typename Atom::ElementB;
  using Sum = typename Atom::Sum;
  using Word = typename Atom::Word;
  static constexpr int kM = layouts::Get<0>(Tile()), kN = layouts::Get<1>(Tile());
  static constexpr int kGroupsM = layouts::Get<0>(GroupsT()), kGroupsN = layouts::Get<1>(GroupsT());
  static constexpr int kThreads = Atom::kThreads * kGroupsM * kGroupsN;
  static constexpr int kGroupM = kM / kGroupsM, kGroupN = kN / kGroupsN;
  static_assert(kGroupM % Atom::kM == 0 && kGroupM * kGroupsM == kM && kGroupN % Atom::kN == 0 &&
                    kGroupN * kGroupsN == kN,
                "weft: TiledMma<Atom, Tile, Groups>: the tile must be a multiple of (groups x the "
                "atom's extents) in m and in n");
  static constexpr int kFragmentsM = kGroupM / Atom::kM, kFragmentsN = kGroupN / Atom::kN;
  static constexpr int kPerWord = sizeof(Word) / sizeof(Element);
  static constexpr int kStepK = Atom::kK;  // of k, that one atom multiplies

 private:
  using AtomColumns = decltype(layouts::Get<1, 0>(typename Atom::C()));
  using AtomRows = decltype(layouts::Get<1, 1>(typename Atom::C()));
  static constexpr int kAtomColumns = layouts::Size(AtomColumns());
  static constexpr int kAtomSums = kAtomColumns * layouts::Size(AtomRows());
  static_assert(kRunOf == 0 || (kRunOf == 2 && kAtomColumns == 2) ||
                    (Atom::kThreads == 32 && (kRunOf == 4 || kRunOf == 8) &&
                     kGroupN % (4 * kRunOf) == 0),
                "weft: TiledMma's kRun is 0, or with tensor cores 2, 4 or 8 where a warp has a "
                "multiple of 4 kRun columns");

  // Column of an instruction -> column of the tile.
  static constexpr auto Columns() {
    if constexpr (kRunOf <= 2) {
      return layouts::MakeLayout(layouts::Int<kN>());
    } else {
      return typename internal::ChannelOrder<kRunOf, kN>::Inverse();
    }
  }

  template <int kRows, int kFragments, int kAtomRowsOf, int kElements, class AtomTv, class Strides>
  static constexpr auto OperandLayout() {
    constexpr auto kAtom =
        internal::InTile<kAtomRowsOf, Atom::kK / kPerWord, kRows, kElements>(AtomTv());
    return layouts::MakeLayout(
        layouts::MakeLayout(layouts::Get<0>(kAtom), LayoutOf<GroupsT, Strides>()),
        layouts::MakeLayout(LayoutOf<layouts::Int<kElements>, layouts::Int<kRows>>(),
                            layouts::Get<1>(kAtom),
                            LayoutOf<layouts::Int<kFragments>, layouts::Int<kAtomRowsOf>>()));
  }

 public:
  // Of A and of B for one step of k: ((lane, groups), (element of a word, register, fragment)) -> m
  // + kM k, n + kN k. kElements: in which a word is counted. InstructionB: rows of B in the order in
  // which instructions have them.
  template <int kElements = kPerWord>
  using LayoutA = decltype(OperandLayout<kM, kFragmentsM, Atom::kM, kElements, typename Atom::A,
                                         Ints<kGroupM, 0>>());
  template <int kElements = kPerWord>
  using InstructionB = decltype(OperandLayout<kN, kFragmentsN, Atom::kN, kElements,
                                              typename Atom::B, Ints<0, kGroupN>>());

 private:
  template <class L>
  static constexpr auto InColumnsOfB(L layout) {
    if constexpr (kRunOf <= 2) {
      return layout;
    } else {
      return layouts::Composition(
          layouts::MakeLayout(Columns(), LayoutOf<layouts::Int<Atom::kK>, layouts::Int<kN>>()),
          layout);
    }
  }
  template <class L>
  static constexpr auto InColumnsOfC(L layout) {
    if constexpr (kRunOf <= 2) {
      return layout;
    } else {
      return internal::WithColumns<kM>(layout, Columns());
    }
  }

  using AtomC = decltype(internal::InTile<Atom::kM, Atom::kN, kM, 1>(typename Atom::C()));
  // (0 to kRun - 1, group) of the columns of a thread, in the order of its registers.
  static constexpr int kOwnColumns = kAtomColumns * kFragmentsN;
  static constexpr int kRun = kRunOf > 0              ? kRunOf
                              : Atom::kThreads == 1 ? kOwnColumns
                                                      : kAtomColumns;
  using Runs = LayoutOf<Ints<kRun, kOwnColumns / kRun>, Ints<1, kRun>>;
  using ThreadC = decltype(InColumnsOfC(layouts::MakeLayout(
      layouts::Get<0>(AtomC()), LayoutOf<GroupsT, Ints<kGroupM, kGroupN * kM>>())));
  using ColumnsC = decltype(layouts::Composition(
      InColumnsOfC(layouts::MakeLayout(
          layouts::Get<1, 0>(AtomC()),
          LayoutOf<layouts::Int<kFragmentsN>, layouts::Int<Atom::kN * kM>>())),
      Runs()));
  using RowsC = decltype(layouts::MakeLayout(
      layouts::Get<1, 1>(AtomC()),
      LayoutOf<layouts::Int<kFragmentsM>, layouts::Int<Atom::kM>>()));
  // The same to registers: sums of one atom next to each other, then atoms along n.
  using ColumnRegisters = decltype(layouts::Composition(
      LayoutOf<Ints<kAtomColumns, kFragmentsN>, Ints<1, kAtomSums>>(), Runs()));
  using RowRegisters =
      LayoutOf<Ints<kAtomSums / kAtomColumns, kFragmentsM>, Ints<kAtomColumns, kAtomSums * kFragmentsN>>;

  template <class L>
  static constexpr auto RowOf(L layout) {
    return layouts::Composition(LayoutOf<Ints<kM, kN>, Ints<1, 0>>(), layout);
  }
  template <class L>
  static constexpr auto ColumnOf(L layout) {
    return layouts::Composition(LayoutOf<Ints<kM, kN>, Ints<0, 1>>(), layout);
  }

 public:
  using LayoutB = decltype(InColumnsOfB(InstructionB<>()));
  // Of C: ((lane, groups), ((0 to kRun - 1, group of columns), rows)) -> m + kM n.
  using LayoutC = decltype(layouts::MakeLayout(ThreadC(), layouts::MakeLayout(ColumnsC(), RowsC())));

  // Which sums a thread holds, for epilogues (accumulators.hpp).
  struct MapLayouts {
    using Accumulators = Sum[kFragmentsM * kFragmentsN][kAtomSums];
    using ThreadRow = decltype(RowOf(ThreadC()));
    using ThreadColumn = decltype(ColumnOf(ThreadC()));
    using ValueRow = decltype(RowOf(RowsC()));
    using ValueColumn = decltype(ColumnOf(ColumnsC()));
    using Register = decltype(layouts::MakeLayout(RowRegisters(), ColumnRegisters()));
  };
  using Map = LayoutMap<MapLayouts>;

  // --- Registers. An operand's: (register, fragment, step of k). C's: as LayoutC's values.

  static constexpr int kRegistersA = layouts::Size(layouts::Get<1>(typename Atom::A()));
  static constexpr int kRegistersB = layouts::Size(layouts::Get<1>(typename Atom::B()));
  template <int kSteps>
  using FragmentA = layouts::RegisterTensor<
      Word, decltype(layouts::MakeLayout(Ints<kRegistersA, kFragmentsM, kSteps>()))>;
  template <int kSteps>
  using FragmentB = layouts::RegisterTensor<
      Word, decltype(layouts::MakeLayout(Ints<kRegistersB, kFragmentsN, kSteps>()))>;
  using FragmentC =
      layouts::RegisterTensor<Sum, decltype(layouts::MakeLayout(ColumnRegisters(), RowRegisters()))>;
  static constexpr FragmentC MakeFragmentC() { return {}; }

  // --- Partitions: a thread's elements of a view of a tile, A (m, k), B (n, k), C (m, n), for any k
  // that is a multiple of kStepK: ((element of a word, register, fragment), step of k); C's are
  // numbered as the registers of FragmentC.

  template <class View>
  WEFT_DEVICE static auto PartitionA(arch::Thread t, View view) {
    return ByThread<View, kM, LayoutA<>>(view)(t.tid(), layouts::_, layouts::_);
  }
  template <class View>
  WEFT_DEVICE static auto PartitionB(arch::Thread t, View view) {
    return ByThread<View, kN, LayoutB>(view)(t.tid(), layouts::_, layouts::_);
  }
  template <class View>
  WEFT_DEVICE static auto PartitionC(arch::Thread t, View view) {
    static_assert(layouts::IsInt<decltype(layouts::Size<0>(view)), kM> &&
                      layouts::IsInt<decltype(layouts::Size<1>(view)), kN>,
                  "weft: PartitionC takes a view of the tile of the TiledMma, with extents known "
                  "at compile time: LocalTile(c, Ints<m, n>(), MakeTuple(i, j))");
    return layouts::PartitionValues(view, LayoutC(), t.tid());
  }

  // --- Reads.

  // Where the threads of LayoutX find a view's elements, with L the view's layout.
  template <class LayoutX, class L, int kRows, int kElements = kPerWord>
  using Places = decltype(layouts::Composition(
      L(), layouts::MakeLayout(layouts::Get<0>(LayoutX()), layouts::Get<1>(LayoutX()),
                               LayoutOf<layouts::Int<layouts::Size<1>(L()) /
                                                     (Atom::kK / kPerWord * kElements)>,
                                        layouts::Int<kRows * Atom::kK / kPerWord * kElements>>())));

  // What brings A or B from a view of shared memory, or of FragmentA or FragmentB, to an atom.
  template <class Operand>
  WEFT_DEVICE static auto ReadA(arch::Thread t, const Operand& a) {
    return Read<LayoutA<>, Element, kM, kRegistersA, kFragmentsM>(t, a);
  }
  template <class Operand>
  WEFT_DEVICE static auto ReadB(arch::Thread t, const Operand& b) {
    return Read<LayoutB, ElementB, kN, kRegistersB, kFragmentsN>(t, b);
  }
  template <class View>
  WEFT_DEVICE static auto LoadA(arch::Thread t, const View& a) {
    return LoadAll<FragmentA>(t, ReadA(t, a));
  }
  template <class View>
  WEFT_DEVICE static auto LoadB(arch::Thread t, const View& b) {
    return LoadAll<FragmentB>(t, ReadB(t, b));
  }

  // --- Products.

  using Sums = typename MapLayouts::Accumulators;

  // The sums of fragment i of rows += a b.
  WEFT_DEVICE static void MultiplyRow(arch::Thread t, const Word (&a)[kRegistersA],
                                      const Word (&b)[kFragmentsN][kRegistersB], int i,
                                      Sums& sums) {
    WEFT_UNROLL
    for (int j = 0; j < kFragmentsN; ++j) Atom::Multiply(t, sums[i * kFragmentsN + j], a, b[j]);
  }

  // c += a b. a, b: views (m, k) and (n, k) of shared memory, or fragments in registers. Whole warps
  // call it; threads from kThreads on do nothing. No barriers.
  template <class A, class B>
  WEFT_DEVICE static void Multiply(arch::Thread t, const A& a, const B& b, FragmentC& c) {
    if (t.tid() >= kThreads) return;
    MultiplyRead(t, ReadA(t, a), ReadB(t, b), reinterpret_cast<Sums&>(c.value));
  }

  // sums += a b, of what ReadA and ReadB give, or of a mainloop's own readers.
  template <class A, class B>
  WEFT_DEVICE static void MultiplyRead(arch::Thread t, const A& a, const B& b, Sums& sums) {
    static_assert(A::kSteps == B::kSteps,
                  "weft: A (m, k) and B (n, k) of TiledMma::Multiply must have the same k");
    WEFT_UNROLL
    for (int step = 0; step < A::kSteps; ++step) {
      Word fragments_b[kFragmentsN][kRegistersB];
      b.Load(t, 0, step, 0, fragments_b);
      WEFT_UNROLL
      for (int i = 0; i < kFragmentsM; i += A::kAtOnce) {
        Word fragments_a[A::kAtOnce][kRegistersA];
        a.Load(t, 0, step, i, fragments_a);
        WEFT_UNROLL
        for (int e = 0; e < A::kAtOnce; ++e) {
          MultiplyRow(t, fragments_a[e], fragments_b, i + e, sums);
        }
      }
    }
  }

 private:
  template <class View, int kRows, class LayoutX>
  static constexpr void CheckOperand() {
    using View_ = std::remove_cvref_t<View>;
    static_assert(layouts::IsInt<decltype(layouts::Size<0>(View_())), kRows>,
                  "weft: operand A of a TiledMma is a view (m, k) and B one (n, k) of its tile, "
                  "with m and n known at compile time: LocalTile(a, Ints<m, k>(), ...)");
    if constexpr (layouts::IsInt<decltype(layouts::Size<0>(View_())), kRows>) {
      constexpr auto kDepth = decltype(layouts::Size<1>(View_()))();
      static_assert(layouts::StaticInteger<decltype(layouts::Size<1>(View_()))> &&
                        kDepth % Atom::kK == 0,
                    "weft: k of a TiledMma's operands is known at compile time, a multiple of the "
                    "atom's kK");
    }
  }

  template <class View, int kRows, class LayoutX>
  WEFT_DEVICE static auto ByThread(const View& view) {
    CheckOperand<View, kRows, LayoutX>();
    constexpr int kDepth = decltype(layouts::Size<1>(view))::value;
    return layouts::Composition(
        view, layouts::MakeLayout(layouts::Get<0>(LayoutX()), layouts::Get<1>(LayoutX()),
                                  LayoutOf<layouts::Int<kDepth / Atom::kK>,
                                           layouts::Int<kRows * Atom::kK>>()));
  }

  template <class LayoutX, class E, int kRows, int kRegisters, int kFragments, class Operand>
  WEFT_DEVICE static auto Read(arch::Thread t, const Operand& operand) {
    if constexpr (layouts::IsRegisterTensor<Operand>) {
      return RegisterReader<Operand, kRegisters, kFragments>{operand};
    } else {
      static_assert(layouts::IsTensorView<Operand>,
                    "weft: TiledMma::Multiply multiplies views of shared memory, or fragments in registers "
                    "(LoadA, LoadB)");
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(operand.data()[0])>, E>,
                    "weft: an operand of TiledMma::Multiply has other elements than the TiledMma's atom");
      CheckOperand<Operand, kRows, LayoutX>();
      using V = internal::StaticView<std::remove_cvref_t<decltype(operand.layout())>>;
      static_assert(V::kOk,
                    "weft: TiledMma::Multiply reads views of shared memory whose layouts are known at compile "
                    "time: shapes and strides of kInt<...>");
      using P = Places<LayoutX, typename V::Layout, kRows>;
      const auto offset = V::OffsetOf(operand.layout());
      if constexpr (Atom::kThreads == 32 &&
                    internal::FitsLdMatrix<P, typename V::Swizzle, sizeof(E)>()) {
        return LdMatrixReader<P, typename V::Swizzle, sizeof(E), false, typename V::Offset>(
            t, t.SharedAddress(operand.data()), offset);
      } else {
        return WordReader<P, typename V::Swizzle, E, Word, typename V::Offset>(t, operand.data(),
                                                                               offset);
      }
    }
  }

  template <template <int> class Fragment, class Reader>
  WEFT_DEVICE static auto LoadAll(arch::Thread t, const Reader& reader) {
    Fragment<Reader::kSteps> result;
    WEFT_UNROLL
    for (int step = 0; step < Reader::kSteps; ++step) {
      Word fragments[Reader::kFragments][Reader::kRegisters];
      reader.Load(t, 0, step, 0, fragments);
      WEFT_UNROLL
      for (int w = 0; w < Reader::kFragments * Reader::kRegisters; ++w) {
        result(w % Reader::kRegisters, w / Reader::kRegisters, step) =
            fragments[w / Reader::kRegisters][w % Reader::kRegisters];
      }
    }
    return result;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
