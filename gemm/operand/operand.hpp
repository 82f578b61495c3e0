// Operands: the objects by which threads load the k tiles of a tile of A, or of B, into a stage of
// shared memory.
//
// An operand is made of a shape (which pieces a thread loads, and where in a stage they go) and an
// iterator (where in global memory those pieces are):
//
//     struct Shape : Share<...> {  // tile/share.hpp
//       static constexpr int kBytes, kCells;  // a piece has kBytes, and is stored in kCells parts
//       static constexpr int Offset(int row, int inner, int outer, int cell);  // bytes in a stage
//     };
//     struct Iterator {                   // points at one outer piece of k of the thread's rows
//       struct Params;                    // made on the host
//       template <class Tile>
//       WEFT_DEVICE Iterator(arch::Thread t, const Params& p, const Tile& tile);
//       WEFT_DEVICE const void* Source(int i) const;  // address of row i's piece, if Bytes(i) > 0
//       WEFT_DEVICE int Bytes(int i) const;   // bytes of it in the operand; the others are zeros
//       WEFT_DEVICE void Advance(int steps);  // goes `steps` outer pieces further
//       static constexpr bool kWhole;         // Bytes is a whole piece or 0: no ragged k
//     };
//
// and inherits OperandTraits (tile/traits.hpp).
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// kBytes bytes (4, 8 or 16), loaded or stored by one instruction.
template <int kBytes>
struct alignas(kBytes) Piece {
  std::uint32_t word[kBytes / 4];
};

// An operand that is loaded through registers, for the pipeline DoubleBuffer: Load starts the loads
// of the next k tile, Store puts that k tile into a stage.
template <class Type>
concept StagedOperand =
    requires(Type op, arch::Thread t, typename Type::Fragment f, std::uint8_t* to) {
      op.Load(t, f);
      op.Store(t, f, to);
    };

// An operand that is loaded asynchronously, for the pipeline CpAsyncRing: CopyPiece(t, to, v)
// starts copy number v < kPieces of the next k tile into the stage at `to`. The copies of a k tile
// are started in ascending order of v. With kLoadsAhead the operand passes registers, and Begin(t)
// is called before the first copy.
template <class Type>
concept AsyncOperand = requires(Type op, arch::Thread t, std::uint32_t to) {
  op.CopyPiece(t, to, 0);
  { Type::kPieces } -> std::convertible_to<int>;
  { Type::kLoadsAhead } -> std::convertible_to<bool>;
};

template <class Type>
concept Operand = StagedOperand<Type> || AsyncOperand<Type>;

// An asynchronous operand that bypasses registers. An operand that passes registers loads by the
// read-only path, which may miss what an earlier kernel is still writing, so that it rules out a
// dependent launch.
template <class Type>
concept DirectOperand = AsyncOperand<Type> && !Type::kLoadsAhead;
// PolicyT as its epilogue sees it, with kDependentLaunch: whether this kernel may start before the
// one in front of it has ended. Not with a residual: in mainloops whose threads both multiply and
// store, the residual's loads would spill if they were the coherent ones that a dependent launch
// needs.
template <class PolicyT, class Pipeline, class OperandA, class OperandB>
struct WithDependentLaunch : PolicyT, StorePolicyTraits {
  static constexpr bool kDependentLaunch = Pipeline::kAsync && DirectOperand<OperandA> &&
                                           DirectOperand<OperandB> &&
                                           !PolicyT::Epilogue::kHasResidual;
};

inline namespace WEFT_BACKEND {

// An operand whose pieces are copied unchanged, by cp.async (CopyPiece) or through registers (Load,
// Store).
template <class Shape, class Iterator>
class GatherOperand : public OperandTraits {
  static constexpr int kBytes = Shape::kBytes;
  static constexpr int kCellBytes = kBytes / Shape::kCells;

 public:
  using Params = typename Iterator::Params;
  static constexpr int kPieces = Shape::kPieces, kThreads = Shape::kThreads;
  struct Fragment {
    Piece<kBytes> piece[kPieces];
  };

  template <class Tile>
  WEFT_DEVICE GatherOperand(arch::Thread t, const Params& p, const Tile& tile)
      : iterator_(t, p, tile) {}

  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    static_assert(Shape::kCells == 1);
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (Shape::kEven || Shape::Has(t, j)) {
      t.template CpAsync<kBytes>(to + static_cast<std::uint32_t>(Offset(t, i, j, 0)),
                                 iterator_.Source(i), iterator_.Bytes(i));
    }
    if (i == Shape::kRows - 1) iterator_.Advance(Shape::StepAfter(j));
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const int bytes = Shape::kEven || Shape::Has(t, j) ? iterator_.Bytes(i) : 0;
      f.piece[v] =
          t.LoadGlobalOr0(static_cast<const Piece<kBytes>*>(iterator_.Source(i)), bytes > 0);
      if constexpr (!Iterator::kWhole) Mask(f.piece[v], bytes);
      if (i == Shape::kRows - 1) iterator_.Advance(Shape::StepAfter(j));
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, std::uint8_t* to) const {
    using Cell = Piece<kCellBytes>;
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      if (!Shape::kEven && !Shape::Has(t, j)) continue;
      WEFT_UNROLL
      for (int e = 0; e < Shape::kCells; ++e) {
        Cell cell;
        memcpy(&cell, &f.piece[v].word[e * kCellBytes / 4], sizeof(cell));
        t.StoreShared(reinterpret_cast<Cell*>(to + Offset(t, i, j, e)), cell);
      }
    }
  }

 protected:
  WEFT_DEVICE static int Offset(arch::Thread t, int i, int j, int cell) {
    return Shape::Offset(Shape::Rows::Shared(Shape::Row(t, i)), Shape::Inner(t), Shape::Outer(t, j),
                         cell);
  }

 private:
  // Clears the bytes of a piece that lie past the operand's end.
  WEFT_DEVICE static void Mask(Piece<kBytes>& piece, int bytes) {
    WEFT_UNROLL
    for (int w = 0; w < kBytes / 4; ++w) {
      piece.word[w] &= FirstBytes(bytes - 4 * w);
    }
  }

  Iterator iterator_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
