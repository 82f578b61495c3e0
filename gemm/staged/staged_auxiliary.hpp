// The auxiliary outputs of a staged store (staged_store.hpp): what an epilogue writes besides dst.
// Each variant below is called for the four values that a thread has of two channels of two pixels:
// value v is of channel v % 2 and pixel v / 2. Begin is called once for the four, See for each
// value, and SeeNothing, where an epilogue needs coordinates, for a value outside the output, for which
// the epilogue is not evaluated.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Where two neighbouring pixels begin in the destination, in elements; negative: the pixel is
// outside.
struct alignas(16) PairPlaces {
  std::int64_t begin[2];
};
template <class TileT, class Shared>
WEFT_DEVICE PairPlaces LoadPairPlaces(arch::Thread t, const Shared& shared, int i) {
  return t.LoadShared(reinterpret_cast<const PairPlaces*>(
      &shared.offset[TileT::Map::Group(t)][TileT::Pixels::PixelOf(t, i)]));
}

// For 16-bit copies beside outputs of one byte: they are stored through shared memory of their own
// (staged_halves.hpp), so that See only keeps them.
template <class TileT>
struct StagedCopies {
  static constexpr bool kNeedsPixel = false;
  struct Pair {
    PairPlaces places;
    float copied[4];
  };
  template <class Shared>
  WEFT_DEVICE static Pair Begin(arch::Thread t, const Shared& shared, int i, std::int32_t&) {
    Pair pair;
    pair.places = {};
    if constexpr (TileT::Epilogue::kHasRange) pair.places = LoadPairPlaces<TileT>(t, shared, i);
    return pair;
  }
  template <class Output, class In, class Channels, class Range>
  WEFT_DEVICE static void See(arch::Thread, const Output& p, const In& in,
                              const epilogues::OutputCoord& at, const OutputPixel&, int v,
                              Pair& pair, const Channels&, Range& range) {
    typename TileT::Math::template Seen<1> seen;
    TileT::Math::See(p, in, at, 0, seen);
    pair.copied[v] = seen.copy[0];
    TileT::Math::TakeRange(pair.places.begin[v / 2] >= 0, seen, range);
  }
};

// For auxiliary outputs that each thread stores by itself, in the output's layout or without a
// layout (ranges). Of a pixel they need only where it begins, which is in shared memory already.
template <class TileT>
struct PlacedAuxiliary {
  static constexpr bool kNeedsPixel = false;
  struct Pair {
    PairPlaces places;
  };
  template <class Shared>
  WEFT_DEVICE static Pair Begin(arch::Thread t, const Shared& shared, int i, std::int32_t&) {
    return {LoadPairPlaces<TileT>(t, shared, i)};
  }
  template <class Output, class In, class Channels, class Range>
  WEFT_DEVICE static void See(arch::Thread t, const Output& p, const In& in,
                              const epilogues::OutputCoord& at, const OutputPixel&, int v,
                              Pair& pair, const Channels& c, Range& range) {
    typename TileT::Math::template Seen<1> seen;
    TileT::Math::See(p, in, at, 0, seen);
    TileT::Math::WriteSeen(t, p, pair.places.begin[v / 2], c, seen, range);
  }
};

// For auxiliary outputs that each thread stores by itself, in another layout than the output's, or
// whose values depend on the pixel's coordinates.
template <class TileT>
struct PixelAuxiliary {
  static constexpr bool kNeedsPixel = true;
  struct Pair {};
  template <class Shared>
  WEFT_DEVICE static Pair Begin(arch::Thread t, const Shared&, int, std::int32_t& first_m) {
    // The compiler must not know first_m: it would keep the places of all pixels in registers from
    // one block of columns to the next.
    std::int32_t unknown[1] = {first_m};
    t.KeepInPlace(unknown);
    first_m = unknown[0];
    return {};
  }
  template <class Output, class In, class Channels, class Range>
  WEFT_DEVICE static void See(arch::Thread t, const Output& p, const In& in,
                              const epilogues::OutputCoord& at, const OutputPixel& pixel, int,
                              Pair&, const Channels& c, Range& range) {
    typename TileT::Math::template Seen<1> seen;
    TileT::Math::See(p, in, at, 0, seen);
    TileT::Math::WriteSeen(t, p, pixel, pixel.inside, c, seen, range);
  }
  // For a pixel outside the output, or a channel past the last.
  template <class Output, class Channels, class Range>
  WEFT_DEVICE static void SeeNothing(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                     const Channels& c, Range& range) {
    TileT::Math::WriteSeen(t, p, pixel, pixel.inside, c, {}, range);
  }
};

// For an epilogue without auxiliary outputs.
template <class TileT>
struct Absent<PixelAuxiliary<TileT>> {
  static constexpr bool kNeedsPixel = false;
  struct Pair {};
  template <class Shared>
  WEFT_DEVICE static Pair Begin(arch::Thread, const Shared&, int, std::int32_t&) {
    return {};
  }
  template <class Output, class In, class Channels, class Range>
  WEFT_DEVICE static void See(arch::Thread, const Output&, const In&, const epilogues::OutputCoord&,
                              const OutputPixel&, int, Pair&, const Channels&, Range&) {}
  template <class Output, class Channels, class Range>
  WEFT_DEVICE static void SeeNothing(arch::Thread, const Output&, const OutputPixel&,
                                     const Channels&, Range&) {}
};

// Chooses the variant for the policy of StagedTile TileT.
template <class TileT>
struct AuxiliaryOf {
  using Math = typename TileT::Math;
  static constexpr bool kCopies = kStagesCopy<typename TileT::Policy, TileT::Mma::kOrder>;
  static constexpr bool kPlaced =
      Math::kHasAuxiliaryOutputs && Math::kCopiesLieAsOutputs && !TileT::Epilogue::kNeedsCoordinate;
  static_assert(!kCopies || kPlaced);
  using type = std::conditional_t<
      kCopies, StagedCopies<TileT>,
      std::conditional_t<kPlaced, PlacedAuxiliary<TileT>,
                         PartIf<Math::kHasAuxiliaryOutputs, PixelAuxiliary<TileT>>>>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
