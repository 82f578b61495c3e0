// Matrix operands with a load functor (load_functor.hpp), which each thread applies in registers
// between global and shared memory. They are asynchronous operands, for CpAsyncRing: CopyPiece
// converts and stores what was loaded one k tile ago, so that the latency of a load is hidden by
// the products of a whole k tile.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/mma/mma_shared.hpp"
#include "weft/gemm/operand/matrix_operand.hpp"
#include "weft/gemm/policy/gemm_policy.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// kBytes bytes (1, 2, or a multiple of 4) of narrow elements, loaded by one instruction.
template <int kBytes>
struct alignas(kBytes) NarrowPiece {
  using Word = std::conditional_t<kBytes == 1, std::uint8_t,
                                  std::conditional_t<kBytes == 2, std::uint16_t, std::uint32_t>>;
  Word word[kBytes / sizeof(Word)];
};

// A mainloop's shape with the piece size of global memory, where an element has kBits; in a stage
// it has kStageBits.
template <class Shape, int kBits, int kStageBits>
struct ShapeOfNarrow : Shape {
  static constexpr int kBytes = Shape::kBytes * kBits / kStageBits;
};

// The shape of an MN-major operand: a piece is 8 bytes of a stage's k of each of kLines_ adjacent
// rows.
template <class Mma, class Rows, int kLines_>
struct LoadedMnMajor : MmaPlace<Mma, Rows, 8>,
                       Share<Mma, Rows, Pieces<4, kLines_, Mma::kGroups>> {};

namespace internal {

// The bits of an Element, as the lowest bits of a word.
template <class Element>
constexpr std::uint32_t BitsOfElement(Element x) {
  if constexpr (sizeof(Element) == 1) {
    return static_cast<std::uint8_t>(x);
  } else {
    return x.bits;
  }
}

}  // namespace internal

inline namespace WEFT_BACKEND {

// A K-major operand. Shape is that of the stage, which holds `Element`s. kWhole: no ragged k, every
// piece is inside or outside as a whole. kShared: as in MatrixSource.
template <class Shape, class Element, class Load, bool kWhole, bool kShared>
class LoadedOperand : public OperandTraits {
  using Source = internal::LoadSource<typename Load::Source>;
  static constexpr int kBits = Source::kBits, kStageBits = 8 * sizeof(Element);
  static constexpr int kPerPiece = Shape::kBytes / static_cast<int>(sizeof(Element));
  static constexpr int kPerWord = 32 / kStageBits;  // elements in a word of a stage
  using Narrow = ShapeOfNarrow<Shape, kBits, kStageBits>;
  using Iterator = AffineIterator<Narrow, MatrixSource<kBits, true, kWhole, kShared>>;
  using Loaded = NarrowPiece<Narrow::kBytes>;
  static constexpr int kPerLoaded = 8 * static_cast<int>(sizeof(typename Loaded::Word)) / kBits;
  static_assert(Shape::kCells == 1);

 public:
  static constexpr bool kLoadsAhead = true;
  using Params = LoadedParams<Load>;
  static constexpr int kPieces = Shape::kPieces, kThreads = Shape::kThreads;

  template <class Tile>
  WEFT_DEVICE LoadedOperand(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p),
        iterator_(t, p, tile),
        k_((Shape::Outer(t, 0) * Shape::kInner + Shape::Inner(t)) * kPerPiece) {}

  WEFT_DEVICE void Begin(arch::Thread t) { LoadKTile(t); }
  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    StorePiece(t, to, v);
    if (v < kPieces - 1) return;
    k_ += Shape::kOuter * Shape::kInner * kPerPiece;
    LoadKTile(t);
  }

 private:
  WEFT_DEVICE void LoadKTile(arch::Thread t) {
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const bool inside = (Shape::kEven || Shape::Has(t, j)) && iterator_.Bytes(i) > 0;
      ahead_[v] = t.LoadGlobalOr0(static_cast<const Loaded*>(iterator_.Source(i)), inside);
      if (i == Shape::kRows - 1) iterator_.Advance(Shape::StepAfter(j));
    }
  }

  WEFT_DEVICE void StorePiece(arch::Thread t, std::uint32_t to, int v) const {
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    const int left = p_.k - k_ - j * (Shape::kStep * Shape::kInner * kPerPiece);  // elements of k
    Piece<Shape::kBytes> piece;
    WEFT_UNROLL
    for (int w = 0; w < Shape::kBytes / 4; ++w) {
      std::uint32_t word = 0;
      WEFT_UNROLL
      for (int e = 0; e < kPerWord; ++e) {
        const int n = w * kPerWord + e;
        const std::uint32_t bits = ahead_[v].word[n / kPerLoaded] >> (n % kPerLoaded * kBits);
        word |= internal::BitsOfElement(p_.load(Source::FromBits(bits))) << (e * kStageBits);
      }
      // What lies past the end becomes 0 only here: the functor may have made something else of it.
      const int inside = left - w * kPerWord;
      piece.word[w] = inside > 0 ? word : 0;
      if constexpr (!kWhole) piece.word[w] &= FirstBytes(inside * (kStageBits / 8));
    }
    const int offset = Shape::Offset(Shape::Rows::Shared(Shape::Row(t, i)), Shape::Inner(t),
                                     Shape::Outer(t, j), 0);
    t.StoreSharedAt(to + static_cast<std::uint32_t>(offset), piece);
  }

  const Params& p_;
  Iterator iterator_;
  std::int32_t k_;  // the thread's first k in the k tile that is stored next
  Loaded ahead_[kPieces];
};

// An MN-major operand, transposed in registers: kDepth words along k, each of kLines adjacent rows,
// become one piece along k for each of these rows.
template <class Shape, class Element, class Load>
class LoadedTransposeOperand : public OperandTraits {
  using Source = internal::LoadSource<typename Load::Source>;
  static constexpr int kBits = Source::kBits, kStageBits = 8 * sizeof(Element);
  static constexpr int kLines = Shape::kLines, kDepth = Shape::kBytes / sizeof(Element);
  static constexpr int kPerWord = 32 / kStageBits;  // elements in a word of a stage
  static constexpr int kStageK = Shape::kOuter * Shape::kInner * kDepth;
  static_assert(kLines * kBits == 32);

 public:
  static constexpr bool kLoadsAhead = true;
  using Params = LoadedParams<Load>;
  static constexpr int kPieces = Shape::kPieces, kThreads = Shape::kThreads;

  template <class Tile>
  WEFT_DEVICE LoadedTransposeOperand(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p),
        line_((Shape::Rows::Index(tile) * Shape::kExtent + Shape::Row(t, 0)) * kLines),
        k_((Shape::Outer(t, 0) * Shape::kInner + Shape::Inner(t)) * kDepth),
        source_(static_cast<const std::uint8_t*>(p.data) +
                BytesOfElements<kBits>(ProductOffset(p, tile) + k_ * p.pitch + line_)) {}

  WEFT_DEVICE void Begin(arch::Thread t) { LoadKTile(t); }
  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    StorePiece(t, to, v);
    if (v < kPieces - 1) return;
    k_ += kStageK;
    source_ += kStageK * BytesOfElements<kBits>(p_.pitch);
    LoadKTile(t);
  }

 private:
  // The offset of step j from the thread's first k in a k tile.
  WEFT_DEVICE int First(int j) const { return j * Shape::kStep * Shape::kInner * kDepth; }

  WEFT_DEVICE void LoadKTile(arch::Thread t) {
    const std::int64_t pitch = BytesOfElements<kBits>(p_.pitch);
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const int line = i * Shape::kLanes * kLines;
      const bool inside = (Shape::kEven || Shape::Has(t, j)) && line_ + line < p_.extent;
      WEFT_UNROLL
      for (int d = 0; d < kDepth; ++d) {
        const std::uint8_t* source =
            source_ + (First(j) + d) * pitch + BytesOfElements<kBits>(line);
        ahead_[v][d] = t.LoadGlobalOr0(reinterpret_cast<const std::uint32_t*>(source),
                                       inside && k_ + First(j) + d < p_.k);
      }
    }
  }

  WEFT_DEVICE void StorePiece(arch::Thread t, std::uint32_t to, int v) const {
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    WEFT_UNROLL
    for (int line = 0; line < kLines; ++line) {
      Piece<Shape::kBytes> piece;
      WEFT_UNROLL
      for (int w = 0; w < Shape::kBytes / 4; ++w) {
        std::uint32_t word = 0;
        WEFT_UNROLL
        for (int e = 0; e < kPerWord; ++e) {
          const int d = w * kPerWord + e;
          const std::uint32_t bits =
              internal::BitsOfElement(p_.load(Source::FromBits(ahead_[v][d] >> (line * kBits))));
          word |= (k_ + First(j) + d < p_.k ? bits : 0) << (e * kStageBits);
        }
        piece.word[w] = word;
      }
      const int row = Shape::Rows::Shared(Shape::Row(t, i) * kLines + line);
      const int offset = Shape::Offset(row, Shape::Inner(t), Shape::Outer(t, j), 0);
      t.StoreSharedAt(to + static_cast<std::uint32_t>(offset), piece);
    }
  }

  const Params& p_;
  std::int32_t line_;           // the thread's first row
  std::int32_t k_;              // the thread's first k in the k tile that is stored next
  const std::uint8_t* source_;  // the address of element (line_, k_)
  std::uint32_t ahead_[kPieces][kDepth];
};

// Chooses an operand as MatrixOperandOf does, for operands with a load functor too.
template <class Mma, class PolicyT, bool kLines, bool kWhole, bool kShared = false>
struct LoadedOperandOf {
  template <class Rows>
  static auto Select() {
    using Element = std::conditional_t<Rows::kIsA, typename PolicyT::Element,
                                       ElementOfB<typename PolicyT::Element>>;
    using Load = LoadOf<PolicyT, Rows::kIsA>;
    if constexpr (!kLoads<Load>) {
      return MatrixOperandOf<Mma, PolicyT, kLines, kWhole, kShared>::template Select<Rows>();
    } else if constexpr (kLines) {
      using Shape = typename Mma::template KMajor<Rows, PolicyT::config.alignment.src>;
      return std::type_identity<LoadedOperand<Shape, Element, Load, kWhole, kShared>>();
    } else {
      using Shape =
          LoadedMnMajor<Mma, Rows, 32 / internal::LoadSource<typename Load::Source>::kBits>;
      return std::type_identity<LoadedTransposeOperand<Shape, Element, Load>>();
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
