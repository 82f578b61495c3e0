// TransposeOperand: an MN-major matrix, which mainloops want K-major. Threads transpose it in
// registers on its way from global to shared memory.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand/matrix_source.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/policy/matrix_params.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Each thread loads words of Shape::kPieceRows adjacent rows, of kDepth successive k, and a transform
// makes a piece of Shape::kBytes bytes along k of each of these rows:
//
//     struct Transform {
//       static constexpr int kBits, kStageBits;  // of an element in global memory, and in a stage
//       using Params;                            // inherits MatrixParams
//       WEFT_DEVICE explicit Transform(const Params& p);
//       // left: how many of the words lie before the end of k; the others are 0.
//       WEFT_DEVICE void Make(arch::Thread t, const std::uint32_t (&word)[kDepth], int left,
//                             Piece<Shape::kBytes> (&line)[Shape::kPieceRows]) const;
//     };
//
// As an asynchronous operand, CopyPiece stores what was loaded one k tile ago, so that the latency
// of a load is hidden by the products of a whole k tile.
template <class Shape, class Transform>
class TransposeOperand : public OperandTraits {
  static constexpr int kBits = Transform::kBits;
  static constexpr int kPieceRows = Shape::kPieceRows;                      // rows in a word
  static constexpr int kDepth = 8 * Shape::kBytes / Transform::kStageBits;  // words of a piece
  static_assert(kPieceRows * kBits == 32);

 public:
  static constexpr bool kLoadsAhead = true;
  using Params = typename Transform::Params;
  static constexpr int kPieces = Shape::kPieces;
  struct Fragment {
    std::uint32_t word[kPieces][kDepth];
  };

  template <class Tile>
  WEFT_DEVICE TransposeOperand(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p),
        line_((Shape::Rows::Index(tile) * Shape::kExtent + Shape::Row(t, 0)) * kPieceRows),
        k_((Shape::Outer(t, 0) * Shape::kInner + Shape::Inner(t)) * kDepth),
        source_(static_cast<const std::uint8_t*>(p.data) +
                BytesOfElements<kBits>(ProductOffset(p, tile) + k_ * p.pitch + line_)),
        transform_(p) {}

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    const std::int64_t pitch = BytesOfElements<kBits>(p_.pitch);
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const int line = i * Shape::kLanes * kPieceRows;
      const bool inside = (Shape::kEven || Shape::Has(t, j)) && line_ + line < p_.extent;
      WEFT_UNROLL
      for (int d = 0; d < kDepth; ++d) {
        const std::uint8_t* source =
            source_ + (First(j) + d) * pitch + BytesOfElements<kBits>(line);
        f.word[v][d] = t.LoadGlobalOr0(reinterpret_cast<const std::uint32_t*>(source),
                                       inside && k_ + First(j) + d < p_.k);
      }
    }
    k_ += kStageK;
    source_ += kStageK * pitch;
  }

  // To is a pointer to the stage, or the stage's 32-bit shared-memory address.
  template <class To>
  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, To to) const {
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) StorePiece(t, f, to, v);
  }

  WEFT_DEVICE void Begin(arch::Thread t) { Load(t, ahead_); }
  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    StorePiece(t, ahead_, to, v);
    if (v == kPieces - 1) Load(t, ahead_);
  }

 private:
  static constexpr int kStageK = Shape::kOuter * Shape::kInner * kDepth;

  // The k of step j, counted from the thread's first k in a k tile.
  static constexpr int First(int j) { return j * Shape::kStep * Shape::kInner * kDepth; }

  template <class To>
  WEFT_DEVICE void StorePiece(arch::Thread t, const Fragment& f, To to, int v) const {
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    Piece<Shape::kBytes> line[kPieceRows];
    transform_.Make(t, f.word[v], p_.k - (k_ - kStageK) - First(j), line);
    WEFT_UNROLL
    for (int e = 0; e < kPieceRows; ++e) {
      const int row = Shape::Rows::Shared(Shape::Row(t, i) * kPieceRows + e);
      StoreToStage(t, to, Shape::Offset(row, Shape::Inner(t), Shape::Outer(t, j), 0), line[e]);
    }
  }

  const Params& p_;
  std::int32_t line_;           // the thread's first row
  std::int32_t k_;              // the thread's first k in the k tile that is loaded next
  const std::uint8_t* source_;  // the address of element (line_, k_)
  Transform transform_;
  Fragment ahead_;
};

// The transform of elements of kElementBytes = 1 or 2 bytes that are multiplied as they are.
template <class Shape, int kElementBytes>
struct TransposedElements {
  static_assert(kElementBytes <= 2);
  static constexpr int kBits = 8 * kElementBytes, kStageBits = kBits;
  static constexpr int kDepth = Shape::kBytes / kElementBytes, kHalves = Shape::kBytes / 4;
  using Params = MatrixParams;

  WEFT_DEVICE explicit TransposedElements(const Params&) {}

  // line[e] becomes element e of each word, in the order of words.
  WEFT_DEVICE void Make(arch::Thread t, const std::uint32_t (&word)[kDepth], int /*left*/,
                        Piece<Shape::kBytes> (&line)[Shape::kPieceRows]) const {
    WEFT_UNROLL
    for (int half = 0; half < kHalves; ++half) {
      const std::uint32_t* w = word + half * (kDepth / kHalves);
      if constexpr (kElementBytes == 2) {
        line[0].word[half] = t.BytePermute(w[0], w[1], 0x5410);
        line[1].word[half] = t.BytePermute(w[0], w[1], 0x7632);
      } else {
        // First pairs of k, of rows 0 and 1 in one word and of rows 2 and 3 in another.
        const std::uint32_t low01 = t.BytePermute(w[0], w[1], 0x5140);
        const std::uint32_t low23 = t.BytePermute(w[2], w[3], 0x5140);
        const std::uint32_t high01 = t.BytePermute(w[0], w[1], 0x7362);
        const std::uint32_t high23 = t.BytePermute(w[2], w[3], 0x7362);
        line[0].word[half] = t.BytePermute(low01, low23, 0x5410);
        line[1].word[half] = t.BytePermute(low01, low23, 0x7632);
        line[2].word[half] = t.BytePermute(high01, high23, 0x5410);
        line[3].word[half] = t.BytePermute(high01, high23, 0x7632);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
