// TiledMma: an atom (mma_atom.hpp) that groups of threads repeat over a tile, for views of tensors.
// Its thread-value layouts say which elements of A, B and C each thread has (docs/tiled.md):
//
//     using Mma = gemm::TiledMma<gemm::MmaSm80Atom<std::int8_t>, Ints<64, 64>, Ints<2, 2>>;
//     auto sums = Mma::MakeFragmentC();             // accumulators, 0
//     Mma::Multiply(t, a, b, sums);                 // sums += a b; a, b: views of shared memory
//     gemm::Copy(t, store, sums, c, where);         // tiled_copy.hpp
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/mma/mma_tile.hpp"
#include "weft/layouts/partition.hpp"
#include "weft/layouts/register_tensor.hpp"

namespace weft::gemm {

namespace internal {

// The thread-value layout of an operand of kRows rows for one step of k (TiledMma::LayoutA,
// LayoutB). OperandT is the atom's operand (OperandAOf, OperandBOf). Groups: group of threads -> its
// first row.
template <class OperandT, int kRows, int kFragments, class Groups>
constexpr auto OperandLayout() {
  using layouts::Int;
  constexpr int kElements = OperandT::kElements;
  constexpr auto kAtom = layouts::Composition(
      LayoutOf<Ints<OperandT::kRows, OperandT::kWords>, Ints<1, kRows * kElements>>(),
      typename OperandT::Tv());
  return layouts::MakeLayout(
      layouts::MakeLayout(layouts::Get<0>(kAtom), Groups()),
      layouts::MakeLayout(LayoutOf<Int<kElements>, Int<kRows>>(), layouts::Get<1>(kAtom),
                          LayoutOf<Int<kFragments>, Int<OperandT::kRows>>()));
}

// The operand layout `layout` with its kRows rows in order Order (mma_tile.hpp).
template <class Atom, int kRows, class Order, class LayoutT>
constexpr auto RowsInOrder(LayoutT layout) {
  if constexpr (Order::kPeriod == 1) {
    return layout;
  } else {
    const auto rows = layouts::MakeLayout(
        typename Order::OrderLayout(),
        LayoutOf<layouts::Int<kRows / Order::kPeriod>, layouts::Int<Order::kPeriod>>());
    return layouts::Composition(
        layouts::MakeLayout(rows, LayoutOf<layouts::Int<Atom::kK>, layouts::Int<kRows>>()), layout);
  }
}

// TimesRows makes columns into indices of a tile of kRows rows; PlusColumns adds up layouts of rows
// and of columns, of the same shape, into one of such indices.
template <int kRows, class LayoutT>
constexpr auto TimesRows(LayoutT columns) {
  return layouts::MakeLayout(
      columns.shape(), layouts::TransformLeaves(columns.stride(), [](const auto& d) constexpr {
        return d * layouts::Int<kRows>();
      }));
}
template <int kRows, class Rows, class OperandC>
constexpr auto SumOfStrides(Rows rows, OperandC columns) {
  if constexpr (layouts::IsTuple<Rows>) {
    return layouts::Transform(rows, columns, [](const auto& r, const auto& c) constexpr {
      return SumOfStrides<kRows>(r, c);
    });
  } else {
    return rows + columns * layouts::Int<kRows>();
  }
}
template <int kRows, class Rows, class OperandC>
constexpr auto PlusColumns(Rows rows, OperandC columns) {
  return layouts::MakeLayout(rows.shape(), SumOfStrides<kRows>(rows.stride(), columns.stride()));
}

// The parts of a view's layout: swizzle, offset, and the layout proper. kOk: all of it but the
// offset is known at compile time.
template <class LayoutT>
struct StaticView {
  static constexpr bool kOk = layouts::IsStatic<LayoutT>;
  using Swizzle = NoSwizzle;
  using Offset = layouts::Int<0>;
  using Layout = LayoutT;
  static constexpr Offset OffsetOf(const LayoutT&) { return {}; }
};
template <class Sw, class OffsetT, class LayoutT>
struct StaticView<layouts::ComposedLayout<Sw, OffsetT, LayoutT>> {
  static constexpr bool kOk = layouts::IsStatic<LayoutT>;
  using Swizzle = Sw;
  using Offset = OffsetT;
  using Layout = LayoutT;
  static constexpr OffsetT OffsetOf(const layouts::ComposedLayout<Sw, OffsetT, LayoutT>& c) {
    return c.offset();
  }
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// A reader (fragment_reader.hpp) of operand fragments that are in registers already.
template <class Fragment, int kRegistersOf, int kFragmentsOf>
struct RegisterReader {
  static constexpr int kAtOnce = 1;
  static constexpr int kSteps =
      static_cast<int>(layouts::Size(typename Fragment::Layout())) / (kRegistersOf * kFragmentsOf);
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

// Tile = Ints<m, n> is the tile of C. GroupsT = Ints<m, n> is the number of groups of threads that
// divide it along m and n; a group has the atom's threads (a warp for tensor cores), adjacent rows
// and adjacent columns, and groups along m are numbered first. kRunOf: how many adjacent columns a
// thread holds, 2, 4 or 8 with tensor cores, for wider stores (channel_order.hpp); 0: as the
// instruction has them.
template <class AtomT, class Tile, class GroupsT, int kRunOf = 0>
struct TiledMma : MmaTile<AtomT, Tile, GroupsT, kRunOf> {
  using Base = MmaTile<AtomT, Tile, GroupsT, kRunOf>;
  using typename Base::Atom, typename Base::Element, typename Base::ElementB, typename Base::Sum,
      typename Base::Word, typename Base::Sums;
  // These are defined anew, as g++ 12 fails on some of them if they are named by `using`.
  static constexpr int kM = Base::kM, kN = Base::kN, kThreads = Base::kThreads;
  static constexpr int kFragmentsM = Base::kFragmentsM, kFragmentsN = Base::kFragmentsN;
  static constexpr int kRegistersA = Base::kRegistersA, kRegistersB = Base::kRegistersB;
  static constexpr int kPerWord = Base::kPerWord;
  using SumMap = typename Base::MapLayouts;

  // The layouts of A and of B for one step of k: ((lane, groups), (element of a word, register,
  // fragment)) -> m + kM k, and -> n + kN k, with n the column of C.
  using LayoutA = decltype(internal::OperandLayout<internal::OperandAOf<Atom>, kM, kFragmentsM,
                                                   LayoutOf<GroupsT, Ints<Base::kGroupM, 0>>>());
  using LayoutB = decltype(internal::RowsInOrder<Atom, kN, typename Base::Order>(
      internal::OperandLayout<internal::OperandBOf<Atom>, kN, kFragmentsN,
                              LayoutOf<GroupsT, Ints<0, Base::kGroupN>>>()));
  // The layout of C: ((lane, groups), ((0 to kRun - 1, group of columns), rows)) -> m + kM n.
  using LayoutC = decltype(layouts::MakeLayout(
      internal::PlusColumns<kM>(typename SumMap::ThreadRow(), typename SumMap::ThreadColumn()),
      layouts::MakeLayout(internal::TimesRows<kM>(typename SumMap::ValueColumn()),
                          typename SumMap::ValueRow())));

  // --- Shared memory: layouts of a k tile of A, (m, k) -> element, and of B, (n, k) -> element, as
  // in the library's own stages, without bank conflicts. For tensor cores; kK is a multiple of 32
  // bytes.
  template <int kRows, int kGroups>
  using Stage =
      std::conditional_t<sizeof(Element) >= 8, DoubleMajor<kRows, kGroups, true, sizeof(Element)>,
                         LineMajor<kRows, kGroups>>;
  template <int kK>
  using SharedA =
      decltype(StageLayoutOf<Element, Stage<Base::kM, kK* static_cast<int>(sizeof(Element)) / 32>,
                             Base::kM>());
  template <int kK>
  using SharedB =
      decltype(StageLayoutOf<ElementB, Stage<Base::kN, kK* static_cast<int>(sizeof(Element)) / 32>,
                             Base::kN, kRunOf>());

  // --- Registers. The tensor of an operand is (register, fragment, step of k); that of C has the
  // values of LayoutC.

  template <int kSteps>
  using FragmentA =
      layouts::RegisterTensor<Word, decltype(layouts::MakeLayout(
                                        Ints<Base::kRegistersA, Base::kFragmentsM, kSteps>()))>;
  template <int kSteps>
  using FragmentB =
      layouts::RegisterTensor<Word, decltype(layouts::MakeLayout(
                                        Ints<Base::kRegistersB, Base::kFragmentsN, kSteps>()))>;
  using FragmentC =
      layouts::RegisterTensor<Sum, decltype(layouts::MakeLayout(typename SumMap::ColumnRegister(),
                                                                typename SumMap::RowRegister()))>;
  static constexpr FragmentC MakeFragmentC() { return {}; }

  // --- Partitions: a thread's elements of a view of a tile, A (m, k), B (n, k) or C (m, n). Those
  // of A and B are ((element of a word, register, fragment), step of k), for any k that is a
  // multiple of kStepK; those of C are numbered as the registers of FragmentC.

  template <class View>
  WEFT_DEVICE static auto PartitionA(arch::Thread t, View view) {
    return ByThread<View, kM, LayoutA>(view)(t.tid(), layouts::_, layouts::_);
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

  // --- Loads from shared memory.

  // These return a reader that loads A or B for an atom, from a view of shared memory or from a
  // FragmentA or FragmentB.
  template <class Operand>
  WEFT_DEVICE static auto ReadA(arch::Thread t, const Operand& a) {
    return Read<SideA>(t, a);
  }
  template <class Operand>
  WEFT_DEVICE static auto ReadB(arch::Thread t, const Operand& b) {
    return Read<SideB>(t, b);
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

  // Computes c += a b. a and b are views (m, k) and (n, k) of shared memory, or fragments in
  // registers. Whole warps call it; threads from kThreads on do nothing. There are no barriers.
  template <class OperandA, class OperandB>
  WEFT_DEVICE static void Multiply(arch::Thread t, const OperandA& a, const OperandB& b,
                                   FragmentC& c) {
    if (t.tid() >= kThreads) return;
    Base::MultiplyRead(t, ReadA(t, a), ReadB(t, b), reinterpret_cast<Sums&>(c.value));
  }

 private:
  template <class View, int kRows>
  static constexpr void CheckOperand() {
    using View_ = std::remove_cvref_t<View>;
    static_assert(layouts::IsInt<decltype(layouts::Size<0>(View_())), kRows>,
                  "weft: operand A of a TiledMma is a view (m, k) and B one (n, k) of its tile, "
                  "with m and n known at compile time: LocalTile(a, Ints<m, k>(), ...)");
    if constexpr (layouts::IsInt<decltype(layouts::Size<0>(View_())), kRows>) {
      constexpr auto kDepth = decltype(layouts::Size<1>(View_()))();
      static_assert(
          layouts::StaticInteger<decltype(layouts::Size<1>(View_()))> && kDepth % Atom::kK == 0,
          "weft: k of a TiledMma's operands is known at compile time, a multiple of the "
          "atom's kK");
    }
  }

  template <class View, int kRows, class LayoutX>
  WEFT_DEVICE static auto ByThread(const View& view) {
    CheckOperand<View, kRows>();
    return OfSteps<LayoutX, kRows>(view);
  }

  // Composes a view or its layout, (row, k), with LayoutX to (thread, value, step of k).
  template <class LayoutX, int kRows, class ViewT>
  static constexpr auto OfSteps(ViewT view) {
    constexpr int kDepth = decltype(layouts::Size<1>(view))::value;
    return layouts::Composition(
        view, layouts::MakeLayout(
                  layouts::Get<0>(LayoutX()), layouts::Get<1>(LayoutX()),
                  LayoutOf<layouts::Int<kDepth / Atom::kK>, layouts::Int<kRows * Atom::kK>>()));
  }

  // What differs between reading A and reading B.
  struct SideA {
    using Layout = LayoutA;
    using Element = typename Base::Element;
    static constexpr int kRows = kM, kRegisters = kRegistersA, kFragments = kFragmentsM;
  };
  struct SideB {
    using Layout = LayoutB;
    using Element = typename Base::ElementB;
    static constexpr int kRows = kN, kRegisters = kRegistersB, kFragments = kFragmentsN;
  };
  template <class Side, class Operand>
  WEFT_DEVICE static auto Read(arch::Thread t, const Operand& operand) {
    if constexpr (layouts::IsRegisterTensor<Operand>) {
      return RegisterReader<Operand, Side::kRegisters, Side::kFragments>{operand};
    } else {
      static_assert(
          layouts::IsTensorView<Operand>,
          "weft: TiledMma::Multiply multiplies views of shared memory, or fragments in registers "
          "(LoadA, LoadB)");
      static_assert(
          std::is_same_v<std::remove_cvref_t<decltype(operand.data()[0])>, typename Side::Element>,
          "weft: an operand of TiledMma::Multiply has other elements than the TiledMma's atom");
      CheckOperand<Operand, Side::kRows>();
      using ViewT = internal::StaticView<std::remove_cvref_t<decltype(operand.layout())>>;
      static_assert(ViewT::kOk,
                    "weft: TiledMma::Multiply reads views of shared memory whose layouts are known "
                    "at compile time: shapes and strides of kInt<...>");
      using Places = internal::ViewPlaces<decltype(OfSteps<typename Side::Layout, Side::kRows>(
          typename ViewT::Layout()))>;
      using OperandStored = Stored<typename Side::Element, typename ViewT::Swizzle>;
      const auto offset = ViewT::OffsetOf(operand.layout());
      if constexpr (Atom::kThreads == 32 &&
                    internal::FitsLdMatrix<Places, typename ViewT::Swizzle,
                                           sizeof(typename Side::Element)>()) {
        return LdMatrixReader<Places, OperandStored, typename ViewT::Offset>(
            t, t.SharedAddress(operand.data()), offset);
      } else {
        return WordReader<Places, OperandStored, Word, typename ViewT::Offset>(t, operand.data(),
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
