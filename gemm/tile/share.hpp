// Which thread of a block loads which pieces of a k tile of an operand.
#pragma once

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/channel_order.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/layouts/algebra/layout.hpp"

namespace weft::gemm {

using layouts::Ints;
using layouts::LayoutOf;
using layouts::Nest;

// How a k tile is cut into pieces of kPieceRows rows each. Pieces are numbered in this order: kInner
// neighbours along k, then the rows, then kOuter groups of kInner along k.
template <int kInner_, int kPieceRows_, int kOuter_>
struct Pieces {
  static constexpr int kInner = kInner_, kPieceRows = kPieceRows_, kOuter = kOuter_;
};

// The rows of operand A, which have the same order in the source and in shared memory. kExtent: how
// many a block of mainloop Mma has. Index: the number of a tile along them.
struct RowsOfA {
  static constexpr bool kIsA = true;
  template <class Mma>
  static constexpr int kExtent = Mma::kBlockM;
  static constexpr int Source(int row) { return row; }
  static constexpr int Shared(int row) { return row; }
  // Whether rows that are `step` apart in shared memory are as far apart in the source.
  static constexpr bool Regular(int) { return true; }
  template <class Tile>
  static constexpr int Index(const Tile& tile) {
    return tile.m;
  }
};

// The rows of operand B, which are columns of the product: in the same order in the source and in
// shared memory, ...
struct RowsOfB : RowsOfA {
  static constexpr bool kIsA = false;
  template <class Mma>
  static constexpr int kExtent = Mma::kBlockN;
  template <class Tile>
  static constexpr int Index(const Tile& tile) {
    return tile.n;
  }
};
// ... or in shared memory in the order that tensor cores want (channel_order.hpp). A thread's rows
// are then numbered either as in the source, where neighbouring threads read side by side, ...
template <int kRun>
struct ChannelsOfB : RowsOfB {
  static constexpr int Shared(int row) { return ChannelRow<kRun>(row); }
};
// ... or as in shared memory, where neighbouring threads write side by side.
template <int kRun>
struct SharedRowsOfB : RowsOfB {
  static constexpr int Source(int row) { return RowChannel<kRun>(row); }
  static constexpr bool Regular(int step) { return step % 32 == 0; }
};

// The largest number of threads, up to `threads`, among which rows can be divided evenly with
// `inner` threads to a row.
constexpr int SharingThreads(int threads, int inner, int rows) {
  for (int lanes = threads / inner; lanes > 1; --lanes) {
    if (rows % lanes == 0 || lanes % rows == 0) return lanes * inner;
  }
  return inner;
}

inline namespace WEFT_BACKEND {

// How the threads of mainloop Mma share the pieces of a k tile: thread t loads piece t and every
// kThreads-th one after it, which are pieces of kRows rows (i) and, in each, kSteps pieces along k
// (j). Neighbouring threads take neighbouring pieces, then neighbouring rows. A row here is kPieceRows
// rows of the operand. With Mma::kMayIdle, kThreads may be less than the block's threads, namely a
// number that divides evenly; the others load nothing.
template <class Mma, class Order, class PolicyT>
struct Share {
  using Rows = Order;
  static constexpr int kInner = PolicyT::kInner, kPieceRows = PolicyT::kPieceRows,
                       kOuter = PolicyT::kOuter;
  static constexpr int kExtent = Rows::template kExtent<Mma> / kPieceRows;
  static constexpr int kThreads =
      Mma::kMayIdle ? SharingThreads(Mma::kThreads, kInner, kExtent) : Mma::kThreads;
  static constexpr int kLanes = kThreads / kInner;  // threads that take the same inner piece
  static constexpr int kRows = kExtent > kLanes ? kExtent / kLanes : 1;
  static constexpr int kStep = kLanes > kExtent ? kLanes / kExtent : 1;
  static constexpr int kSteps = CeilDiv(kOuter, kStep), kPieces = kRows * kSteps;
  static_assert(kThreads % kInner == 0 && (kRows * kLanes == kExtent || kStep * kExtent == kLanes),
                "weft: the threads of a block that take one piece of a row, and the rows (columns) "
                "of config.threadblock, must divide one another");
  // Whether some threads load nothing, and whether all threads have kSteps pieces of a row.
  static constexpr bool kIdle = kThreads < Mma::kThreads;
  static constexpr bool kEven = !kIdle && kOuter % kStep == 0;
  static constexpr bool kRegular = kRows == 1 || Order::Regular(kLanes);

  // (thread, (i, j)) -> inner piece, row, outer piece: one shape, three strides.
  using Modes = Nest<Ints<kInner, kExtent / kRows, kStep>, Ints<kRows, kSteps>>;
  using InnerOf = LayoutOf<Modes, Nest<Ints<1, 0, 0>, Ints<0, 0>>>;
  using RowOf = LayoutOf<Modes, Nest<Ints<0, 1, 0>, Ints<kLanes, 0>>>;
  using OuterOf = LayoutOf<Modes, Nest<Ints<0, 0, 1>, Ints<0, kStep>>>;

  // (thread, (element, i, j)) -> the index in a tile where rows are kRow apart and neighbours along
  // k are kK apart; a piece is kElements elements along k.
  template <int kElements, int kRow, int kK>
  using Elements =
      LayoutOf<Nest<Ints<kInner, kExtent / kRows, kStep>, Ints<kElements, kRows, kSteps>>,
               Nest<Ints<kElements * kK, kRow, kInner * kElements * kK>,
                    Ints<kK, kLanes * kRow, kStep * kInner * kElements * kK>>>;

  // How many outer pieces lie between a thread's piece j and its next one, which may be the first
  // of the next k tile.
  static constexpr int StepAfter(int j) {
    return j == kSteps - 1 ? kOuter - (kSteps - 1) * kStep : kStep;
  }

  WEFT_DEVICE static int Inner(arch::Thread t) { return InnerOf()(t.tid(), 0); }
  WEFT_DEVICE static int Row(arch::Thread t, int i) {
    return RowOf()(t.tid(), layouts::MakeTuple(i, 0));
  }
  WEFT_DEVICE static int Outer(arch::Thread t, int j) {
    if constexpr (kStep == 1) {
      return j;  // the same for all threads, as the compiler should know
    } else {
      return OuterOf()(t.tid(), layouts::MakeTuple(0, j));
    }
  }
  // Whether the thread has a piece j of its rows.
  WEFT_DEVICE static bool Has(arch::Thread t, int j) {
    return kEven || ((!kIdle || t.tid() < kThreads) && Outer(t, j) < kOuter);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
