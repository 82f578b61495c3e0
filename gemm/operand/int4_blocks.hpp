// Operand B in blocks of int4 (layouts/packed_int4.hpp), for mainloops that load through registers
// and find int8 in their stages. mma_sm80 loads blocks as they are by cp.async, and upcasts the
// fragments that it reads from a stage (mma_sm80.hpp).
#pragma once

#include <cstdint>

#include "weft/gemm/operand/affine_iterator.hpp"
#include "weft/gemm/operand/staged_operand.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The transform of a piece that is a block, 16 bytes of 32 values: a stage has its lower values in
// one cell and its upper values in another.
template <class Iterator>
struct UpcastInt4Blocks {
  using Params = typename Iterator::Params;
  using Loaded = Piece<16>;
  struct Kept {};

  template <class Tile>
  WEFT_DEVICE UpcastInt4Blocks(arch::Thread, const Params&, const Tile&) {}
  WEFT_DEVICE void OnLoad(arch::Thread, const Iterator&, int, int, Loaded&, Kept&) {}
  WEFT_DEVICE void Make(const Loaded& block, const Kept&, int /*v*/, Piece<32>& made) const {
    WEFT_UNROLL
    for (int w = 0; w < 4; ++w) {
      made.word[w] = LowerInt4(block.word[w]);
      made.word[4 + w] = UpperInt4(block.word[w]);
    }
  }
  WEFT_DEVICE void Advance() {}
};

// Shape: a mainloop's Int4Blocks.
template <class Shape, class Source,
          class Iterator = AffineIterator<ShapeInMemory<Shape, 4, 8>, Source>>
using UpcastInt4Operand = StagedOperand<Shape, Iterator, UpcastInt4Blocks<Iterator>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
