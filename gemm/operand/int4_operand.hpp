// Operand B in blocks of int4 (layouts/packed_int4.hpp), which are upcast to int8 between global
// memory and the instruction.
//
// A piece is a block, 16 bytes of 32 values. Mainloops that load through registers find int8 in
// their stages: Int4Operand stores a piece as two cells, its lower and its upper values. mma_sm80
// loads blocks as they are by cp.async, and upcasts the fragments that it reads from a stage
// (mma_sm80.hpp).
#pragma once

#include <cstdint>

#include "weft/gemm/operand/operand.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Shape has kBytes = 16 and kCells = 2; each cell has 16 bytes in a stage.
template <class Shape, class Iterator>
class Int4Operand : public GatherOperand<Shape, Iterator> {
  using Block = GatherOperand<Shape, Iterator>;
  static_assert(Shape::kBytes == 16 && Shape::kCells == 2);

 public:
  using Block::Block;
  void CopyPiece() = delete;  // cp.async bypasses registers, where values could be upcast

  WEFT_DEVICE void Store(arch::Thread t, const typename Block::Fragment& f,
                         std::uint8_t* to) const {
    WEFT_UNROLL
    for (int v = 0; v < Block::kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      if (!Shape::kEven && !Shape::Has(t, j)) continue;
      WEFT_UNROLL
      for (int cell = 0; cell < 2; ++cell) {
        Piece<16> values;
        WEFT_UNROLL
        for (int w = 0; w < 4; ++w) {
          const std::uint32_t word = f.piece[v].word[w];
          values.word[w] = cell == 0 ? LowerInt4(word) : UpperInt4(word);
        }
        t.StoreShared(reinterpret_cast<Piece<16>*>(to + Block::Offset(t, i, j, cell)), values);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
