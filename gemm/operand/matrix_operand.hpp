// The operand that a mainloop takes for a matrix in global memory: K-major or MN-major, as it is or
// with a load functor.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/operand/affine_iterator.hpp"
#include "weft/gemm/operand/load_transforms.hpp"
#include "weft/gemm/operand/matrix_source.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/operand/staged_operand.hpp"
#include "weft/gemm/operand/transpose_operand.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"
#include "weft/gemm/policy/load_functor.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The shape of an MN-major matrix with a load functor: a piece is 8 bytes of a stage's k of each of
// kPieceRows adjacent rows, whose elements are a word in memory.
template <class Mma, class Rows, int kPieceRows>
struct LoadedMnMajor : MmaPlace<Mma, Rows, 8>,
                       Share<Mma, Rows, Pieces<4, kPieceRows, Mma::kGroups>> {};

// Chooses the operand (MatrixOperandOf).
template <class Mma, class PolicyT, class Rows, class Kind>
struct MatrixOperandAs {
  using Load = LoadOf<PolicyT, Rows::kIsA>;
  static constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  static constexpr int kAccess = PolicyT::config.alignment.src;  // bytes

  static auto Select() {
    if constexpr (kLoads<Load> && Kind::kKMajor) {
      using Shape = typename Mma::template KMajor<Rows, kAccess>;
      using Bits = internal::LoadBits<Load>;
      using Iterator = AffineIterator<ShapeInMemory<Shape, Bits::kBits, Bits::kStageBits>,
                                      MatrixSource<Bits::kBits, Kind>>;
      return std::type_identity<
          StagedOperand<Shape, Iterator, LoadedPieces<Shape, Iterator, Load>>>();
    } else if constexpr (kLoads<Load>) {
      using Shape = LoadedMnMajor<Mma, Rows, 32 / internal::LoadBits<Load>::kBits>;
      return std::type_identity<TransposeOperand<Shape, LoadedTranspose<Shape, Load>>>();
    } else if constexpr (!Kind::kKMajor && kElementBytes < 4) {
      using Shape = typename Mma::template Transposed<Rows>;
      return std::type_identity<
          TransposeOperand<Shape, TransposedElements<Shape, kElementBytes>>>();
    } else if constexpr (Kind::kKMajor) {
      using Shape = typename Mma::template KMajor<Rows, kAccess>;
      using Iterator = AffineIterator<Shape, MatrixSource<8 * kElementBytes, Kind>>;
      return std::type_identity<CopiedOperand<Mma, Shape, Iterator>>();
    } else {
      using Shape = typename Mma::template MnMajor<Rows, kAccess>;
      using Iterator = AffineIterator<Shape, MatrixSource<8 * kElementBytes, Kind>>;
      return std::type_identity<CopiedOperand<Mma, Shape, Iterator>>();
    }
  }
};

// The operand of mainloop Mma for a matrix of PolicyT, a GEMM policy or a Block's. Rows says whether
// it is A or B. Kind: its MatrixKind.
template <class Mma, class PolicyT, class Rows, class Kind>
using MatrixOperandOf =
    typename decltype(MatrixOperandAs<Mma, PolicyT, Rows, Kind>::Select())::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
