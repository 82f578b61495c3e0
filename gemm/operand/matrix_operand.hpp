// Matrix operands in global memory, K-major and MN-major, for every mainloop.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/operand/affine_iterator.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/policy/matrix_params.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {

// A tile that knows its product of a batch; the tile of a Block's product (block_operand.hpp) does
// not.
template <class Tile>
concept TileOfProduct = requires(const Tile& tile) { tile.product; };

// Where the matrix of a tile's product begins, in elements from p.data.
template <class Tile>
constexpr std::int64_t ProductOffset(const MatrixParams& p, const Tile& tile) {
  if constexpr (TileOfProduct<Tile>) {
    return tile.product * p.step;
  } else {
    return 0;
  }
}

// A matrix as the Spec of AffineIterator. kBits: bits of an element. kKMajor: k runs along memory;
// otherwise the matrix is MN-major. kShared: all groups of a Grouped product have their rows in
// this matrix; a tile's group has tile.rows of them, from tile.first_row on.
template <int kBits, bool kKMajor_, bool kWhole_, bool kShared = false>
struct MatrixSource {
  using Params = MatrixParams;
  static constexpr bool kKMajor = kKMajor_, kWhole = kWhole_, kRegular = true;
  static constexpr int kUnit = kKMajor ? kBits : 8;  // bits of a unit of First and End
  static constexpr std::int64_t StepBytes(const Params& p) {
    return BytesOfElements<kBits>(p.pitch);
  }
  static constexpr std::int64_t RowBytes(const Params& p) {
    return kKMajor ? BytesOfElements<kBits>(p.pitch) : kBits / 8;
  }
  static constexpr std::int32_t End(const Params& p) { return BytesOfElements<kUnit>(p.k); }
  static constexpr std::int32_t First(const Params& p) { return BytesOfElements<kUnit>(p.first_k); }
  template <class Tile>
  static constexpr const void* Data(const Params& p, const Tile& tile) {
    return static_cast<const std::uint8_t*>(p.data) +
           BytesOfElements<kBits>(ProductOffset(p, tile));
  }
  template <class Tile>
  static constexpr RowPlace Row(const Params& p, const Tile& tile, std::int32_t row) {
    if constexpr (kShared) {
      return {(tile.first_row + row) * RowBytes(p), row < tile.rows};
    } else {
      return {row * RowBytes(p), row < p.extent};
    }
  }
};

inline namespace WEFT_BACKEND {

// An MN-major matrix with elements of kElementBytes = 1 or 2, which mainloops want K-major: each
// thread loads words of Shape::kLines adjacent rows and transposes them in registers to pieces of
// Shape::kBytes bytes along k of one row. As an asynchronous operand, CopyPiece stores what was
// loaded one k tile ago, so that the latency of a load is hidden by the products of a whole k tile.
template <class Shape, int kElementBytes>
class TransposeOperand : public OperandTraits {
  static_assert(kElementBytes == 4 / Shape::kLines && kElementBytes <= 2);
  static constexpr int kLines = Shape::kLines;                  // rows in a word
  static constexpr int kDepth = Shape::kBytes / kElementBytes;  // words along k that make a piece
  static constexpr int kHalves = Shape::kBytes / 4;

 public:
  static constexpr bool kLoadsAhead = true;
  using Params = MatrixParams;
  static constexpr int kPieces = Shape::kPieces, kThreads = Shape::kThreads;
  struct Fragment {
    std::uint32_t word[kPieces][kDepth];
  };

  template <class Tile>
  WEFT_DEVICE TransposeOperand(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p),
        line_((Shape::Rows::Index(tile) * Shape::kExtent + Shape::Row(t, 0)) * kLines),
        k_((Shape::Outer(t, 0) * Shape::kInner + Shape::Inner(t)) * kDepth),
        source_(static_cast<const std::uint8_t*>(p.data) +
                (ProductOffset(p, tile) + k_ * p.pitch + line_) * kElementBytes) {}

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    const std::int64_t pitch = p_.pitch * kElementBytes;
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const int line = i * Shape::kLanes * kLines;
      const int first = j * Shape::kStep * Shape::kInner * kDepth;
      const bool inside = (Shape::kEven || Shape::Has(t, j)) && line_ + line < p_.extent;
      WEFT_UNROLL
      for (int d = 0; d < kDepth; ++d) {
        const std::uint8_t* source = source_ + (first + d) * pitch + line * kElementBytes;
        f.word[v][d] = t.LoadGlobalOr0(reinterpret_cast<const std::uint32_t*>(source),
                                       inside && k_ + first + d < p_.k);
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

  template <class To>
  WEFT_DEVICE static void StorePiece(arch::Thread t, const Fragment& f, To to, int v) {
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    Piece<Shape::kBytes> line[kLines];
    Transpose(t, f.word[v], line);
    WEFT_UNROLL
    for (int e = 0; e < kLines; ++e) {
      const int row = Shape::Rows::Shared(Shape::Row(t, i) * kLines + e);
      const int offset = Shape::Offset(row, Shape::Inner(t), Shape::Outer(t, j), 0);
      if constexpr (std::is_pointer_v<To>) {
        t.StoreShared(reinterpret_cast<Piece<Shape::kBytes>*>(to + offset), line[e]);
      } else {
        t.StoreSharedAt(to + static_cast<std::uint32_t>(offset), line[e]);
      }
    }
  }

  // line[e] becomes element e of each word, in the order of words.
  WEFT_DEVICE static void Transpose(arch::Thread t, const std::uint32_t (&word)[kDepth],
                                    Piece<Shape::kBytes> (&line)[kLines]) {
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

  const Params& p_;
  std::int32_t line_;           // the thread's first row
  std::int32_t k_;              // the thread's first k in the k tile that is loaded next
  const std::uint8_t* source_;  // the address of element (line_, k_)
  Fragment ahead_;
};

// Chooses the operand of mainloop Mma for a matrix of PolicyT::Element; Rows says whether it is A
// or B. kLines: the matrix is K-major. kWhole: no ragged k, its rows are a multiple of
// config.alignment.src bytes. kShared: as in MatrixSource.
template <class Mma, class PolicyT, bool kLines, bool kWhole, bool kShared = false>
struct MatrixOperandOf {
  static constexpr int kElementBytes = sizeof(typename PolicyT::Element);
  template <class Rows>
  static auto Select() {
    if constexpr (kLines) {
      using Shape = typename Mma::template KMajor<Rows, PolicyT::config.alignment.src>;
      using Source = MatrixSource<8 * kElementBytes, true, kWhole, kShared>;
      return std::type_identity<AffineOperand<Shape, Source>>();
    } else if constexpr (kElementBytes < 4) {
      using Shape = typename Mma::template Transposed<Rows>;
      return std::type_identity<TransposeOperand<Shape, kElementBytes>>();
    } else {
      using Shape = typename Mma::template MnMajor<Rows, PolicyT::config.alignment.src>;
      using Source = MatrixSource<8 * kElementBytes, false, true>;
      return std::type_identity<AffineOperand<Shape, Source>>();
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
