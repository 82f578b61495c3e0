// StagedOperand: an operand whose pieces pass registers on their way from global to shared memory,
// where a transform may change them: upcast them, or apply a functor.
//
// A transform is
//
//     struct Transform {
//       using Params;    // what the operand is launched with; inherits Iterator::Params
//       using Loaded;    // a piece as it lies in global memory, loaded by one instruction
//       struct Kept {};  // what is remembered of the pieces of a k tile until they are stored
//       template <class Tile>
//       WEFT_DEVICE Transform(arch::Thread t, const Params& p, const Tile& tile);
//       // Called for each piece v when its load has been started, of which `bytes` are the operand's
//       // (0: none); the iterator points at it.
//       WEFT_DEVICE void OnLoad(arch::Thread t, const Iterator& iterator, int v, int bytes,
//                               Loaded& piece, Kept& kept);
//       // Makes what a stage has of piece v.
//       WEFT_DEVICE void Make(const Loaded& piece, const Kept& kept, int v, Piece<...>& made) const;
//       WEFT_DEVICE void Advance();  // called when all pieces of a k tile have been made
//     };
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// kBytes bytes (1, 2, or a multiple of 4) of elements narrower than those of a stage, loaded by one
// instruction.
template <int kBytes>
struct alignas(kBytes) NarrowPiece {
  using Word = std::conditional_t<kBytes == 1, std::uint8_t,
                                  std::conditional_t<kBytes == 2, std::uint16_t, std::uint32_t>>;
  Word word[kBytes / sizeof(Word)];
};

// Shape, which is that of a stage, as an iterator sees it in global memory, where an element has
// kBits bits instead of the stage's kStageBits.
template <class Shape, int kBits, int kStageBits>
struct ShapeInMemory : Shape {
  static constexpr int kBytes = Shape::kBytes * kBits / kStageBits;
};

inline namespace WEFT_BACKEND {

// The transform of pieces that are stored as they were loaded, with zeros past the operand's end.
template <class Shape, class Iterator>
struct Unchanged {
  using Params = typename Iterator::Params;
  using Loaded = Piece<Shape::kBytes>;
  struct Kept {};

  template <class Tile>
  WEFT_DEVICE Unchanged(arch::Thread, const Params&, const Tile&) {}

  WEFT_DEVICE void OnLoad(arch::Thread, const Iterator&, int /*v*/, int bytes, Loaded& piece,
                          Kept&) {
    if constexpr (!Iterator::kWhole) {
      WEFT_UNROLL
      for (int w = 0; w < Shape::kBytes / 4; ++w) piece.word[w] &= FirstBytes(bytes - 4 * w);
    }
  }
  WEFT_DEVICE void Make(const Loaded& piece, const Kept&, int /*v*/, Loaded& made) const {
    made = piece;
  }
  WEFT_DEVICE void Advance() {}
};

// Shape is that of the stage; Iterator may be made for another size of a piece (ShapeInMemory). As
// an asynchronous operand, CopyPiece stores what was loaded one k tile ago, so that the latency of
// a load is hidden by the products of a whole k tile.
template <class Shape, class Iterator, class Transform = Unchanged<Shape, Iterator>>
class StagedOperand : public OperandTraits {
  using Loaded = typename Transform::Loaded;
  using Made = Piece<Shape::kBytes>;
  static constexpr int kCellBytes = Shape::kBytes / Shape::kCells;

 public:
  static constexpr bool kLoadsAhead = true;
  using Params = typename Transform::Params;
  static constexpr int kPieces = Shape::kPieces;
  struct Fragment {
    Loaded piece[kPieces];
    typename Transform::Kept kept;
  };

  template <class Tile>
  WEFT_DEVICE StagedOperand(arch::Thread t, const Params& p, const Tile& tile)
      : iterator_(t, p, tile), transform_(t, p, tile) {}

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    f.kept = {};
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const int bytes = Shape::kEven || Shape::Has(t, j) ? iterator_.Bytes(i) : 0;
      f.piece[v] = t.LoadGlobalOr0(static_cast<const Loaded*>(iterator_.Source(i)), bytes > 0);
      transform_.OnLoad(t, iterator_, v, bytes, f.piece[v], f.kept);
      if (i == Shape::kRows - 1) AdvanceAfter<Shape>(iterator_, j);
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, std::uint8_t* to) {
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) StorePiece(t, f, to, v);
    transform_.Advance();
  }

  WEFT_DEVICE void Begin(arch::Thread t) { Load(t, ahead_); }
  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    StorePiece(t, ahead_, to, v);
    if (v < kPieces - 1) return;
    transform_.Advance();
    Load(t, ahead_);
  }

 private:
  template <class To>
  WEFT_DEVICE void StorePiece(arch::Thread t, const Fragment& f, To to, int v) const {
    using Cell = Piece<kCellBytes>;
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    Made made;
    transform_.Make(f.piece[v], f.kept, v, made);
    const int row = Shape::Rows::Shared(Shape::Row(t, i));
    WEFT_UNROLL
    for (int e = 0; e < Shape::kCells; ++e) {
      Cell cell;
      memcpy(&cell, &made.word[e * kCellBytes / 4], sizeof(cell));
      StoreToStage(t, to, Shape::Offset(row, Shape::Inner(t), Shape::Outer(t, j), e), cell);
    }
  }

  Iterator iterator_;
  Transform transform_;
  Fragment ahead_;
};

// An operand whose pieces mainloop Mma wants as they are in memory: copied by cp.async where its
// pipeline does so, else through registers.
template <class Mma, class Shape, class Iterator>
using CopiedOperand = std::conditional_t<Mma::Pipeline::kAsync, CpAsyncOperand<Shape, Iterator>,
                                         StagedOperand<Shape, Iterator>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
