// Source pixels that a functor converts on their way (conv/source_functor.hpp): through registers,
// also where others are copied straight to shared memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/conv/pixel_map.hpp"
#include "weft/conv/source_functor.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand.hpp"

namespace weft::conv {

// Base: the parameters of the walk.
template <class Base, class Functor>
struct ConvertedParams : Base {
  Functor functor{};
  std::int32_t channels = 0;        // of the source
  std::int32_t group_channels = 0;  // of one of its groups
};
template <class Base>
struct ConvertedParams<Base, NoSourceFunctor> : Base {};

inline namespace WEFT_BACKEND {

// As gemm::GatherOperand, but with words converted before they are stored. Asynchronously, CopyPiece
// stores what was loaded a slice ago, so that loads have a slice's products to arrive in. Walk also has
// Channel(t), the first channel of the thread's pieces. kAll: every piece in the image is whole
// channels of the source; if not, those that fill its last block become zeros.
template <class Shape, class Walk, class Functor, bool kAll>
class ConvertedOperand {
  static constexpr int kBytes = Shape::kBytes;
  static constexpr int kCellBytes = kBytes / Shape::kCells;
  static_assert(Walk::kWhole && Shape::kPieces <= 32);

 public:
  using Params = ConvertedParams<typename Walk::Params, Functor>;
  static constexpr int kPieces = Shape::kPieces;
  struct Fragment {
    gemm::Piece<kBytes> piece[kPieces];
    std::int32_t channel[Shape::kSteps];  // the first of its pieces
    std::uint32_t inside;                 // bit by bit: whether a piece is in the image
  };

  template <class Tile>
  WEFT_DEVICE ConvertedOperand(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p), walk_(t, p, tile) {
    if constexpr (kDependsOf<Tile>.group) first_ = tile.batch.g * p.group_channels;
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    f.inside = 0;
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const bool inside = (Shape::kEven || Shape::Has(t, j)) && walk_.Bytes(i) > 0;
      f.piece[v] =
          t.LoadGlobalOr0(static_cast<const gemm::Piece<kBytes>*>(walk_.Source(i)), inside);
      f.inside |= inside ? 1u << v : 0u;
      if (i == Shape::kRows - 1) {
        f.channel[j] = first_ + walk_.Channel(t);
        walk_.Advance(Shape::StepAfter(j));
      }
    }
  }

  WEFT_DEVICE void Store(arch::Thread t, const Fragment& f, std::uint8_t* to) const {
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) StorePiece(t, f, to, v);
  }

  WEFT_DEVICE void Begin(arch::Thread t) { Load(t, ahead_); }
  WEFT_DEVICE void CopyPiece(arch::Thread t, std::uint32_t to, int v) {
    StorePiece(t, ahead_, to, v);
    if (v == kPieces - 1) Load(t, ahead_);
  }

 private:
  // To: a pointer to the stage, or its 32-bit address.
  template <class To>
  WEFT_DEVICE void StorePiece(arch::Thread t, const Fragment& f, To to, int v) const {
    using Cell = gemm::Piece<kCellBytes>;
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    gemm::Piece<kBytes> piece = f.piece[v];
    if ((f.inside >> v & 1) != 0) {
      WEFT_UNROLL
      for (int w = 0; w < kBytes / 4; ++w) {
        piece.word[w] = Convert(piece.word[w], f.channel[j] + 4 * w);
      }
    }
    const int row = Shape::Rows::Shared(Shape::Row(t, i));
    WEFT_UNROLL
    for (int e = 0; e < Shape::kCells; ++e) {
      Cell cell;
      memcpy(&cell, &piece.word[e * kCellBytes / 4], sizeof(cell));
      const int offset = Shape::Offset(row, Shape::Inner(t), Shape::Outer(t, j), e);
      if constexpr (std::is_pointer_v<To>) {
        t.StoreShared(reinterpret_cast<Cell*>(to + offset), cell);
      } else {
        t.StoreSharedAt(to + static_cast<std::uint32_t>(offset), cell);
      }
    }
  }

  // Four channels from `channel` on.
  WEFT_DEVICE std::uint32_t Convert(std::uint32_t word, std::int32_t channel) const {
    std::uint32_t converted = 0;
    WEFT_UNROLL
    for (int b = 0; b < 4; ++b) {
      if (!kAll && channel + b >= p_.channels) continue;
      const auto x = static_cast<typename Functor::Source>(word >> (8 * b));
      const auto y = static_cast<std::uint8_t>(p_.functor(x, channel + b));
      converted |= std::uint32_t{y} << (8 * b);
    }
    return converted;
  }

  const Params& p_;
  Walk walk_;
  std::int32_t first_ = 0;  // of the tile's channel group
  Fragment ahead_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
