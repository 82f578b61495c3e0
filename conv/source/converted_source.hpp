// Source pixels that are converted on their way to shared memory: by a functor
// (conv/policy/source_functor.hpp), or from 4 bits to bytes. They go through registers, also in
// mainloops that otherwise copy straight to shared memory (cp.async).
#pragma once

#include <cstdint>

#include "weft/conv/policy/policy.hpp"
#include "weft/conv/source/pixel_map.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/operand/staged_operand.hpp"

namespace weft::conv {

// Whether the source of PolicyT is transformed on its way to shared memory.
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

// The transform of StagedOperand for source pixels. PolicyT: a policy with kChangesSource. Shape is
// that of the stage, where a channel has a byte; Iterator is made for gemm::ShapeInMemory and, for a
// functor, has Channel(t), where in memory the thread's pieces begin, in bytes of channels.
template <class Shape, class Iterator, class PolicyT>
class SourceTransform {
  using Checked = CheckedPolicy<PolicyT>;
  using Functor = SourceFunctorOf<PolicyT>;
  using Source = SourceElement<PolicyT>;
  static constexpr bool kConverts = kConvertsSource<PolicyT>, kInt4 = Checked::kExpandsSource;
  // Whether every piece inside the image has channels of the source only. If not, the channels that
  // fill the source's last block become zeros of the product, without a call of the functor.
  static constexpr bool kAll = Checked::kNhwc;
  static constexpr int kBytes = Shape::kBytes;
  static_assert(Iterator::kWhole && Shape::kPieces <= 32);

 public:
  using Params = ConvertedParams<typename Iterator::Params, Functor>;
  using Loaded = gemm::NarrowPiece<kInt4 ? kBytes / 2 : kBytes>;
  struct Kept {
    std::int32_t channel[Shape::kSteps];  // first channel of the pieces of each step
    std::uint32_t inside;                 // a bit for each piece: whether it is in the image
  };

  template <class Tile>
  WEFT_DEVICE SourceTransform(arch::Thread, const Params& p, const Tile& tile) : p_(p) {
    if constexpr (kConverts && kDependsOf<Tile>.group) first_ = tile.batch.g * p.group_channels;
  }

  WEFT_DEVICE void OnLoad(arch::Thread t, const Iterator& iterator, int v, int bytes, Loaded&,
                          Kept& kept) {
    if constexpr (kConverts) {
      kept.inside |= bytes > 0 ? 1u << v : 0u;
      kept.channel[v / Shape::kRows] = first_ + iterator.Channel(t) * 8 / Checked::kSrcBits;
    }
  }

  WEFT_DEVICE void Make(const Loaded& piece, const Kept& kept, int v,
                        gemm::Piece<kBytes>& made) const {
    WEFT_UNROLL
    for (int w = 0; w < kBytes / 4; ++w) made.word[w] = Word(piece, w);
    if constexpr (kConverts) {
      if ((kept.inside >> v & 1) == 0) return;
      WEFT_UNROLL
      for (int w = 0; w < kBytes / 4; ++w) {
        made.word[w] = Convert(made.word[w], kept.channel[v / Shape::kRows] + 4 * w);
      }
    }
  }
  WEFT_DEVICE void Advance() {}

 private:
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
  std::int32_t first_ = 0;  // first channel of the tile's channel group
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
