// Transforms of operands with a load functor (load_functor.hpp), which each thread applies in
// registers between global and shared memory: LoadedPieces of StagedOperand, for a K-major matrix,
// and LoadedTranspose of TransposeOperand, for an MN-major one.
#pragma once

#include <cstdint>
#include <utility>

#include "weft/gemm/operand/staged_operand.hpp"
#include "weft/gemm/operand/transpose_operand.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/policy/matrix_params.hpp"

namespace weft::gemm {

namespace internal {

// The elements of a load functor: kBits each in memory, kStageBits in a stage.
template <class Load>
struct LoadBits {
  using Source = LoadSource<typename Load::Source>;
  using Element = decltype(std::declval<const Load&>()(std::declval<typename Source::Value>()));
  static constexpr int kBits = Source::kBits, kStageBits = 8 * sizeof(Element);
  static constexpr int kPerWord = 32 / kStageBits;  // elements in a word of a stage

  // What a stage has of the element in the lowest bits of `bits`, as the lowest bits of a word.
  static constexpr std::uint32_t Apply(const Load& load, std::uint32_t bits) {
    const Element x = load(Source::FromBits(bits));
    if constexpr (sizeof(Element) == 1) {
      return static_cast<std::uint8_t>(x);
    } else {
      return x.bits;
    }
  }
};

}  // namespace internal

inline namespace WEFT_BACKEND {

// Iterator: of a K-major matrix, made for ShapeInMemory. Shape: that of the stage.
template <class Shape, class Iterator, class Load>
class LoadedPieces {
  using Bits = internal::LoadBits<Load>;
  static constexpr int kPerPiece = 8 * Shape::kBytes / Bits::kStageBits;
  static_assert(Shape::kCells == 1);

 public:
  using Params = LoadedParams<Load>;
  using Loaded = NarrowPiece<Shape::kBytes * Bits::kBits / Bits::kStageBits>;
  struct Kept {};

  template <class Tile>
  WEFT_DEVICE LoadedPieces(arch::Thread t, const Params& p, const Tile&)
      : p_(p), k_((Shape::Outer(t, 0) * Shape::kInner + Shape::Inner(t)) * kPerPiece) {}

  WEFT_DEVICE void OnLoad(arch::Thread, const Iterator&, int, int, Loaded&, Kept&) {}
  WEFT_DEVICE void Make(const Loaded& piece, const Kept&, int v,
                        gemm::Piece<Shape::kBytes>& made) const {
    constexpr int kPerLoaded = 8 * static_cast<int>(sizeof(typename Loaded::Word)) / Bits::kBits;
    const int j = v / Shape::kRows;
    const int left = p_.k - k_ - j * (Shape::kStep * Shape::kInner * kPerPiece);  // elements of k
    WEFT_UNROLL
    for (int w = 0; w < Shape::kBytes / 4; ++w) {
      std::uint32_t word = 0;
      WEFT_UNROLL
      for (int e = 0; e < Bits::kPerWord; ++e) {
        const int n = w * Bits::kPerWord + e;
        const std::uint32_t bits = piece.word[n / kPerLoaded] >> (n % kPerLoaded * Bits::kBits);
        word |= Bits::Apply(p_.load, bits) << (e * Bits::kStageBits);
      }
      // What lies past the end becomes 0 only here: the functor may have made something else of it.
      const int inside = left - w * Bits::kPerWord;
      made.word[w] = inside > 0 ? word : 0;
      if constexpr (!Iterator::kWhole) {
        made.word[w] &= FirstBytes(inside * (Bits::kStageBits / 8));
      }
    }
  }
  WEFT_DEVICE void Advance() { k_ += Shape::kOuter * Shape::kInner * kPerPiece; }

 private:
  const Params& p_;
  std::int32_t k_;  // the thread's first k in the k tile that is stored next
};

// Shape: that of the stage, with as many kPieceRows as elements of memory fit in a word.
template <class Shape, class Load>
class LoadedTranspose {
  using Bits = internal::LoadBits<Load>;
  static constexpr int kDepth = 8 * Shape::kBytes / Bits::kStageBits;

 public:
  static constexpr int kBits = Bits::kBits, kStageBits = Bits::kStageBits;
  using Params = LoadedParams<Load>;

  WEFT_DEVICE explicit LoadedTranspose(const Params& p) : p_(p) {}

  WEFT_DEVICE void Make(arch::Thread, const std::uint32_t (&word)[kDepth], int left,
                        Piece<Shape::kBytes> (&line)[Shape::kPieceRows]) const {
    WEFT_UNROLL
    for (int row = 0; row < Shape::kPieceRows; ++row) {
      WEFT_UNROLL
      for (int w = 0; w < Shape::kBytes / 4; ++w) {
        std::uint32_t made = 0;
        WEFT_UNROLL
        for (int e = 0; e < Bits::kPerWord; ++e) {
          const int d = w * Bits::kPerWord + e;
          const std::uint32_t bits = Bits::Apply(p_.load, word[d] >> (row * kBits));
          made |= (d < left ? bits : 0) << (e * kStageBits);
        }
        line[row].word[w] = made;
      }
    }
  }

 private:
  const Params& p_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
