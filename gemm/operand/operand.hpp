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
//       WEFT_DEVICE void Advance();           // goes Shape::kStep outer pieces further
//       WEFT_DEVICE void Advance(int steps);  // goes `steps` further; where not Shape::kEven
//       static constexpr bool kWhole;         // Bytes is a whole piece or 0: no ragged k
//     };
//
// and inherits OperandTraits (tile/traits.hpp). There are three of them: CpAsyncOperand, whose pieces
// bypass registers; StagedOperand (staged_operand.hpp), in which a transform changes them between
// global and shared memory; TransposeOperand (transpose_operand.hpp), for MN-major matrices that a
// mainloop wants K-major.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/tile/share.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// kBytes bytes (4, 8 or 16), loaded or stored by one instruction.
template <int kBytes>
struct alignas(kBytes) Piece {
  std::uint32_t word[kBytes / 4];
};

// An operand that the pipeline DoubleBuffer takes through registers: Load starts the loads of the
// next k tile, Store puts that k tile into a stage.
template <class Type>
concept LoadStoreOperand =
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
concept Operand = LoadStoreOperand<Type> || AsyncOperand<Type>;

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

// Stores a piece in a stage, `offset` bytes from its beginning. `to` points to the stage, or is its
// 32-bit shared-memory address.
template <class To, class Type>
WEFT_DEVICE void StoreToStage(arch::Thread t, To to, int offset, const Type& piece) {
  if constexpr (std::is_pointer_v<To>) {
    t.StoreShared(reinterpret_cast<Type*>(to + offset), piece);
  } else {
    t.StoreSharedAt(to + static_cast<std::uint32_t>(offset), piece);
  }
}

// Moves an iterator from a thread's outer piece j to its next one, which may be the first of the next
// k tile.
template <class Shape, class Iterator>
WEFT_DEVICE void AdvanceAfter(Iterator& iterator, int j) {
  if constexpr (Shape::kEven) {
    iterator.Advance();
  } else {
    iterator.Advance(Shape::StepAfter(j));
  }
}

// An operand whose pieces cp.async copies unchanged.
template <class Shape, class Iterator>
class CpAsyncOperand : public OperandTraits {
  static_assert(Shape::kCells == 1);

 public:
  using Params = typename Iterator::Params;
  static constexpr int kPieces = Shape::kPieces;

  template <class Tile>
  WEFT_DEVICE CpAsyncOperand(arch::Thread t, const Params& p, const Tile& tile)
      : iterator_(t, p, tile) {}

  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (Shape::kEven || Shape::Has(t, j)) {
      const int row = Shape::Rows::Shared(Shape::Row(t, i));
      const int offset = Shape::Offset(row, Shape::Inner(t), Shape::Outer(t, j), 0);
      t.template CpAsync<Shape::kBytes>(to + static_cast<std::uint32_t>(offset),
                                        iterator_.Source(i), iterator_.Bytes(i));
    }
    if (i == Shape::kRows - 1) AdvanceAfter<Shape>(iterator_, j);
  }

 private:
  Iterator iterator_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
