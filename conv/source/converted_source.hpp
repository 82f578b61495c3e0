// Source pixels that are converted on their way to shared memory: by a functor
// (conv/policy/source_functor.hpp), or from 4 bits to bytes. They go through registers, also in
// mainloops that otherwise copy straight to shared memory (cp.async).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/conv/policy/policy.hpp"
#include "weft/conv/source/pixel_map.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand/operand.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::conv {

// Whether the source of PolicyT is a ConvertedOperand.
template <class PolicyT>
inline constexpr bool kChangesSource =
    kConvertsSource<PolicyT> || CheckedPolicy<PolicyT>::kExpandsSource;

// What a converted source's iterator is launched with. Base: the iterator's own parameters.
template <class Base, class Functor>
struct ConvertedParams : Base {
  Functor functor{};
  std::int32_t channels = 0;        // of the whole source
  std::int32_t group_channels = 0;  // of one channel group
};
template <class Base>
struct ConvertedParams<Base, NoSourceFunctor> : Base {};

inline namespace WEFT_BACKEND {

// Shape as the iterator reads it in memory, where a channel has kBits bits; in a stage it has a
// byte.
template <class Shape, int kBits>
struct ShapeInMemory : Shape {
  static constexpr int kBytes = Shape::kBytes * kBits / 8;
};
template <class Shape>
struct ShapeInMemory<Shape, 8> : Shape {};

// kBytes bytes of 4-bit channels, two to a byte, which are loaded in one access.
template <int kBytes>
struct alignas(kBytes) PairedPiece {
  using Word = std::conditional_t<kBytes == 2, std::uint16_t, std::uint32_t>;
  static constexpr int kWords = kBytes / static_cast<int>(sizeof(Word));
  Word word[kWords];
};

// Like gemm::GatherOperand, but words are converted before they are stored. In an asynchronous
// mainloop CopyPiece stores what was loaded one k tile earlier, so that loads have the time of a k
// tile's products to arrive. PolicyT: a policy with kChangesSource. Iterator is made for
// ShapeInMemory; for a functor it also has Channel(t), where in memory the thread's pieces begin,
// in bytes of channels.
template <class Shape, class Iterator, class PolicyT>
class ConvertedOperand : public gemm::OperandTraits {
  using Checked = CheckedPolicy<PolicyT>;
  using Functor = SourceFunctorOf<PolicyT>;
  using Source = SourceElement<PolicyT>;
  static constexpr bool kConverts = kConvertsSource<PolicyT>, kInt4 = Checked::kExpandsSource;
  // Whether every piece inside the image has channels of the source only. If not, the channels that
  // fill the source's last block become zeros of the product, without a call of the functor.
  static constexpr bool kAll = Checked::kNhwc;
  static constexpr int kBytes = Shape::kBytes;
  static constexpr int kCellBytes = kBytes / Shape::kCells;
  static_assert(Iterator::kWhole && Shape::kPieces <= 32);
  using Loaded = std::conditional_t<kInt4, PairedPiece<kBytes / 2>, gemm::Piece<kBytes>>;

 public:
  static constexpr bool kLoadsAhead = true;
  using Params = ConvertedParams<typename Iterator::Params, Functor>;
  static constexpr int kPieces = Shape::kPieces;
  struct Fragment {
    Loaded piece[kPieces];
    std::int32_t channel[Shape::kSteps];  // first channel of the pieces of each step
    std::uint32_t inside;                 // a bit for each piece: whether it is in the image
  };

  template <class Tile>
  WEFT_DEVICE ConvertedOperand(arch::Thread t, const Params& p, const Tile& tile)
      : p_(p), iterator_(t, p, tile) {
    if constexpr (kConverts && kDependsOf<Tile>.group) first_ = tile.batch.g * p.group_channels;
  }

  WEFT_DEVICE void Load(arch::Thread t, Fragment& f) {
    f.inside = 0;
    WEFT_UNROLL
    for (int v = 0; v < kPieces; ++v) {
      const int i = v % Shape::kRows, j = v / Shape::kRows;
      const bool inside = (Shape::kEven || Shape::Has(t, j)) && iterator_.Bytes(i) > 0;
      f.piece[v] = t.LoadGlobalOr0(static_cast<const Loaded*>(iterator_.Source(i)), inside);
      f.inside |= inside ? 1u << v : 0u;
      if (i == Shape::kRows - 1) {
        if constexpr (kConverts) {
          f.channel[j] = first_ + iterator_.Channel(t) * 8 / Checked::kSrcBits;
        }
        iterator_.Advance(Shape::StepAfter(j));
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
  // Stores piece v of the fragment. To: a pointer to the stage, or its 32-bit shared address.
  template <class To>
  WEFT_DEVICE void StorePiece(arch::Thread t, const Fragment& f, To to, int v) const {
    using Cell = gemm::Piece<kCellBytes>;
    const int i = v % Shape::kRows, j = v / Shape::kRows;
    if (!Shape::kEven && !Shape::Has(t, j)) return;
    gemm::Piece<kBytes> piece;
    WEFT_UNROLL
    for (int w = 0; w < kBytes / 4; ++w) piece.word[w] = Word(f.piece[v], w);
    if (kConverts && (f.inside >> v & 1) != 0) {
      WEFT_UNROLL
      for (int w = 0; w < kBytes / 4; ++w) {
        if constexpr (kConverts) piece.word[w] = Convert(piece.word[w], f.channel[j] + 4 * w);
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

  // The word with channels 4 w to 4 w + 3 of a piece, a byte each.
  static constexpr std::uint32_t Word(const Loaded& piece, int w) {
    if constexpr (!kInt4) {
      return piece.word[w];
    } else if constexpr (kBytes == 4) {
      return UnpairInt4<Source>(piece.word[0]);
    } else {
      return UnpairInt4<Source>(piece.word[w / 2] >> (16 * (w % 2)));
    }
  }

  // Calls the functor for the four channels of a word, from `channel` on.
  WEFT_DEVICE std::uint32_t Convert(std::uint32_t word, std::int32_t channel) const {
    std::uint32_t converted = 0;
    WEFT_UNROLL
    for (int b = 0; b < 4; ++b) {
      if (!kAll && channel + b >= p_.channels) continue;
      const auto x = static_cast<Source>(word >> (8 * b));
      const auto y = static_cast<std::uint8_t>(p_.functor(x, channel + b));
      converted |= std::uint32_t{y} << (8 * b);
    }
    return converted;
  }

  const Params& p_;
  Iterator iterator_;
  std::int32_t first_ = 0;  // first channel of the tile's channel group
  Fragment ahead_;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
