// Who loads what: the pieces of one k tile of an operand's tile, divided among a block's threads.
#pragma once

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/algebra/layout.hpp"

namespace weft::gemm {

using layouts::Ints;
using layouts::LayoutOf;
using layouts::Nest;

// A k tile in pieces of kLines rows, numbered: kInner neighbours along k, then the rows, then
// kOuter groups of neighbours along k.
template <int kInner_, int kLines_, int kOuter_>
struct Pieces {
  static constexpr int kInner = kInner_, kLines = kLines_, kOuter = kOuter_;
};

// The rows of operand A: as they are. kExtent: of a block of mainloop Mma.
struct RowsOfA {
  static constexpr bool kIsA = true;
  template <class Mma>
  static constexpr int kExtent = Mma::kBlockM;
  static constexpr int Source(int row) { return row; }
  static constexpr int Shared(int row) { return row; }
  // Source rows `step` rows of shared memory apart are as far apart.
  static constexpr bool Regular(int) { return true; }
  template <class Tile>
  static constexpr int Index(const Tile& tile) {
    return tile.m;
  }
};

// The rows of operand B, which are columns of the product: as they are, ...
struct RowsOfB : RowsOfA {
  static constexpr bool kIsA = false;
  template <class Mma>
  static constexpr int kExtent = Mma::kBlockN;
  template <class Tile>
  static constexpr int Index(const Tile& tile) {
    return tile.n;
  }
};
// ... or in the order in which tensor cores want them (channel_order.hpp). A thread's rows are then
// either rows of the source, which neighbours read side by side, ...
template <int kRun>
struct ChannelsOfB : RowsOfB {
  static constexpr int Shared(int row) { return ChannelRow<kRun>(row); }
};
// ... or rows of shared memory, which neighbours write side by side.
template <int kRun>
struct SharedRowsOfB : RowsOfB {
  static constexpr int Source(int row) { return RowChannel<kRun>(row); }
  static constexpr bool Regular(int step) { return step % 32 == 0; }
};

// The most of `threads` threads among which rows can be divided evenly, `inner` threads to a row.
constexpr int SharingThreads(int threads, int inner, int rows) {
  for (int lanes = threads / inner; lanes > 1; --lanes) {
    if (rows % lanes == 0 || lanes % rows == 0) return lanes * inner;
  }
  return inner;
}

inline namespace WEFT_BACKEND {

// Thread t of mainloop Mma's loads piece t and every kThreads-th after it: of kRows rows (i), and of
// each kSteps pieces along k (j). Neighbouring threads take neighbouring pieces, then neighbouring
// rows. A row here is kLines of the operand's. With Mma::kMayIdle threads from this kThreads on, which
// is what divides evenly, load nothing.
template <class Mma, class Order, class PolicyT>
struct Share {
  using Rows = Order;
  static constexpr int kInner = PolicyT::kInner, kLines = PolicyT::kLines, kOuter = PolicyT::kOuter;
  static constexpr int kExtent = Rows::template kExtent<Mma> / kLines;
  static constexpr int kThreads =
      Mma::kMayIdle ? SharingThreads(Mma::kThreads, kInner, kExtent) : Mma::kThreads;
  static constexpr int kLanes = kThreads / kInner;  // threads that take the same inner piece
  static constexpr int kRows = kExtent > kLanes ? kExtent / kLanes : 1;
  static constexpr int kStep = kLanes > kExtent ? kLanes / kExtent : 1;
  static constexpr int kSteps = CeilDiv(kOuter, kStep), kPieces = kRows * kSteps;
  static_assert(kThreads % kInner == 0 && (kRows * kLanes == kExtent || kStep * kExtent == kLanes),
                "weft: the threads of a block that take one piece of a row, and the rows (columns) "
                "of config.threadblock, must divide one another");
  // All threads have kSteps pieces of a row.
  static constexpr bool kEven = kOuter % kStep == 0;
  static constexpr bool kRegular = kRows == 1 || Order::Regular(kLanes);

  // (thread, (i, j)) -> inner piece, row, outer piece: one shape, three strides.
  using Modes = Nest<Ints<kInner, kExtent / kRows, kStep>, Ints<kRows, kSteps>>;
  using InnerOf = LayoutOf<Modes, Nest<Ints<1, 0, 0>, Ints<0, 0>>>;
  using RowOf = LayoutOf<Modes, Nest<Ints<0, 1, 0>, Ints<kLanes, 0>>>;
  using OuterOf = LayoutOf<Modes, Nest<Ints<0, 0, 1>, Ints<0, kStep>>>;

  // (thread, (element, i, j)) -> index of a tile whose rows are kRow and k kK apart, of pieces of
  // kElements along k.
  template <int kElements, int kRow, int kK>
  using Elements =
      LayoutOf<Nest<Ints<kInner, kExtent / kRows, kStep>, Ints<kElements, kRows, kSteps>>,
               Nest<Ints<kElements * kK, kRow, kInner * kElements * kK>,
                    Ints<kK, kLanes * kRow, kStep * kInner * kElements * kK>>>;

  // Outer pieces from number j of a k tile to the next, which may be the first of the next k tile.
  static constexpr int StepAfter(int j) {
    return j == kSteps - 1 ? kOuter - (kSteps - 1) * kStep : kStep;
  }

  WEFT_DEVICE static int Inner(arch::Thread t) { return InnerOf()(t.tid(), 0); }
  WEFT_DEVICE static int Row(arch::Thread t, int i) {
    return RowOf()(t.tid(), layouts::MakeTuple(i, 0));
  }
  WEFT_DEVICE static int Outer(arch::Thread t, int j) {
    if constexpr (kStep == 1) {
      return j;  // the same for all threads, which the compiler is to know
    } else {
      return OuterOf()(t.tid(), layouts::MakeTuple(0, j));
    }
  }
  WEFT_DEVICE static bool Has(arch::Thread t, int j) { return kEven || Outer(t, j) < kOuter; }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
