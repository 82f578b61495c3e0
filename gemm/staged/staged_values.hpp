// The 16-bit values of a staged store (staged_store.hpp): its outputs, or copies beside outputs of
// one byte, or none. StagedHalves writes them to global memory as soon as a thread has them.
//
// Pack makes two words of stmatrix of the four values that a thread has of two channels of two
// pixels, a word for each channel. Write stores those of 8 kMatrices rows from `first` on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/staged/staged_auxiliary.hpp"
#include "weft/gemm/staged/staged_halves.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// What the two variants below have in common. ElementT: the values' type. kRun: the channels of one
// store that the tensor's alignment allows.
template <class TileT, class ElementT, int kRun>
struct SomeHalves
    : StagedHalves<typename TileT::Dst, ElementT, (kRun < 8 ? kRun : 8), typename TileT::Mma> {
  using Base =
      StagedHalves<typename TileT::Dst, ElementT, (kRun < 8 ? kRun : 8), typename TileT::Mma>;

  template <class Shared, class Output, int kMatrices>
  WEFT_DEVICE static void WriteTo(ElementT* tensor, arch::Thread t, Shared& shared, const Output& p,
                                  int chunk, int first, const typename TileT::ChannelSpan& span,
                                  const std::uint32_t (&words)[2][kMatrices]) {
    using Pixels = typename TileT::Pixels;
    const std::int64_t* const offsets =
        shared.offset[TileT::Map::Group(t)] + Pixels::FirstOf(chunk) + 8 * first;
    Base::Write(t, shared.halves, tensor, p.extents, offsets, chunk,
                span.first + Pixels::ChannelOf(chunk), span.end, span.padded_end, words);
  }
};

template <class TileT>
struct HalvesOfOutputs : SomeHalves<TileT, typename TileT::Element, TileT::kRun / 2> {
  using Some = SomeHalves<TileT, typename TileT::Element, TileT::kRun / 2>;

  template <class Seen>
  WEFT_DEVICE static void Pack(const typename TileT::Element (&outputs)[4], const Seen&,
                               std::uint32_t (&words)[2]) {
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) words[e] = Some::Word(outputs[e], outputs[2 + e]);
  }
  template <class Shared, class Output, int kMatrices>
  WEFT_DEVICE static void Write(arch::Thread t, Shared& shared, const Output& p, int chunk,
                                int first, const typename TileT::ChannelSpan& span,
                                const std::uint32_t (&words)[2][kMatrices]) {
    Some::WriteTo(p.dst, t, shared, p, chunk, first, span, words);
  }
};

// For a store whose outputs and copies all have other sizes.
template <class TileT>
struct Absent<HalvesOfOutputs<TileT>> {
  template <class Seen>
  WEFT_DEVICE static void Pack(const typename TileT::Element (&)[4], const Seen&,
                               std::uint32_t (&)[2]) {}
  template <class Shared, class Output, int kMatrices>
  WEFT_DEVICE static void Write(arch::Thread, Shared&, const Output&, int, int,
                                const typename TileT::ChannelSpan&,
                                const std::uint32_t (&)[2][kMatrices]) {}
};

// One store takes as many channels of a copy as of the output, as it is aligned to as many
// elements. seen: a Pair of StagedCopies.
template <class TileT>
struct HalvesOfCopies
    : SomeHalves<TileT, typename TileT::Epilogue::CopyStage::Element, TileT::kRun> {
  using Copy = typename TileT::Epilogue::CopyStage;
  using Some = SomeHalves<TileT, typename Copy::Element, TileT::kRun>;

  template <class Seen>
  WEFT_DEVICE static void Pack(const typename TileT::Element (&)[4], const Seen& seen,
                               std::uint32_t (&words)[2]) {
    WEFT_UNROLL
    for (int e = 0; e < 2; ++e) {
      words[e] = Some::Word(Copy::Convert(seen.copied[e]), Copy::Convert(seen.copied[2 + e]));
    }
  }
  template <class Shared, class Output, int kMatrices>
  WEFT_DEVICE static void Write(arch::Thread t, Shared& shared, const Output& p, int chunk,
                                int first, const typename TileT::ChannelSpan& span,
                                const std::uint32_t (&words)[2][kMatrices]) {
    Some::WriteTo(p.epilogue.template Get<Copy>().to, t, shared, p, chunk, first, span, words);
  }
};

// Whether the store of StagedTile TileT has such values, and the variant for its policy.
template <class TileT>
inline constexpr bool kStagesValues = AuxiliaryOf<TileT>::kCopies || !TileT::kByteOutputs;
template <class TileT>
using StagedValuesOf = std::conditional_t<AuxiliaryOf<TileT>::kCopies, HalvesOfCopies<TileT>,
                                          PartIf<kStagesValues<TileT>, HalvesOfOutputs<TileT>>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
