// What zero points add to the accumulators of a staged store (staged_store.hpp). The terms of each
// pixel lie in shared memory (staged_rows.hpp). As most pixels are inside, a warp first finds out
// which of its pixels are at the border at all.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Which of a warpgroup's pixels are at the border, a bit for each.
template <int kRows>
struct BorderPixels {
  std::uint32_t word[CeilDiv(kRows, 32)] = {};

  // Whether any of pixels 8 i to 8 i + 7 is; the answer is the same for all lanes of a warp.
  WEFT_DEVICE bool AnyOfEight(int i) const { return (word[i / 4] >> i % 4 * 8 & 0xff) != 0; }
};

// Where no pixel is corrected differently from the others.
template <class TileT>
struct NoBorder {
  template <class Shared>
  WEFT_DEVICE static BorderPixels<TileT::kRows> FindBorder(arch::Thread, const Shared&) {
    return {};
  }
  template <class Shared, class Output, class Channels, class Sum>
  WEFT_DEVICE static void AddEdges(arch::Thread, const Shared&, const Output&, int, int, bool,
                                   const Channels&, Sum (&)[4]) {}
};

// Corrections of the channels alone (the padding is filled, and the filter has no zero points).
template <class TileT>
struct StagedChannelCorrections : NoBorder<TileT> {
  using Math = typename TileT::Math;
  // What zero points add to the four accumulators that a thread has of the two channels of column
  // block x and of pixels i and i + 1 (StagedPair).
  template <class Shared, class Channels>
  WEFT_DEVICE static void Find(arch::Thread, const Shared&, int, int x, const Channels& c,
                               std::uint32_t (&shift)[4]) {
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) shift[v] = Math::Shift(c[2 * x + v % 2], {});
  }
};
template <class TileT>
struct Absent<StagedChannelCorrections<TileT>> : NoBorder<TileT> {
  template <class Shared, class Channels>
  WEFT_DEVICE static void Find(arch::Thread, const Shared&, int, int, const Channels&,
                               std::uint32_t (&)[4]) {}
};

// Corrections that depend on the pixel too.
template <class TileT>
struct StagedPixelCorrections {
  using Math = typename TileT::Math;
  using Map = typename TileT::Map;
  static constexpr int kRows = TileT::kRows;

  // All lanes of the warp call it.
  template <class Shared>
  WEFT_DEVICE static BorderPixels<kRows> FindBorder(arch::Thread t, const Shared& shared) {
    BorderPixels<kRows> border;
    if constexpr (Math::kEdges) {
      static_assert(TileT::Mma::kPackedRows == 1);  // one pixel to a row
      WEFT_UNROLL
      for (int i = 0; i < kRows; i += 32) {
        const int row = i + t.lane();
        border.word[i / 32] =
            t.Ballot(row < kRows && t.LoadShared(&shared.terms[Map::Group(t)][row].edge) != 0);
      }
    }
    return border;
  }

  template <class Shared, class Channels>
  WEFT_DEVICE static void Find(arch::Thread t, const Shared& shared, int i, int x,
                               const Channels& c, std::uint32_t (&shift)[4]) {
    PairTerms terms{};
    if constexpr (Math::kFilterZeroPoint) terms = TermsOf(t, shared, i);
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) shift[v] = Math::Shift(c[2 * x + v % 2], terms.pixel[v / 2]);
  }

  // Adds to the four accumulators what pixels at the border need besides. edge: whether any of the
  // warp's eight pixels is at the border. It is apart from Find, so that for all others no register
  // is a copy of the channel's correction.
  template <class Shared, class Output, class Channels, class Sum>
  WEFT_DEVICE static void AddEdges(arch::Thread t, const Shared& shared, const Output& p, int i,
                                   int x, bool edge, const Channels& c, Sum (&sums)[4]) {
    if constexpr (Math::kEdges) {
      if (!edge) return;
      const PairTerms terms = TermsOf(t, shared, i);
      WEFT_UNROLL
      for (int v = 0; v < 4; ++v) {
        const std::uint32_t more = Math::Edge(t, p, c[2 * x + v % 2], terms.pixel[v / 2]);
        sums[v] = static_cast<Sum>(static_cast<std::uint32_t>(sums[v]) + more);
      }
    }
  }

 private:
  struct alignas(2 * sizeof(typename Math::PixelTerms)) PairTerms {
    typename Math::PixelTerms pixel[2];
  };
  // Those of pixels i and i + 1.
  template <class Shared>
  WEFT_DEVICE static PairTerms TermsOf(arch::Thread t, const Shared& shared, int i) {
    return t.LoadShared(reinterpret_cast<const PairTerms*>(
        &shared.terms[Map::Group(t)][TileT::Pixels::PixelOf(t, i)]));
  }
};

// Chooses the variant for the policy of StagedTile TileT.
template <class TileT>
using StagedCorrectionsOf =
    std::conditional_t<TileT::Math::kTerms, StagedPixelCorrections<TileT>,
                       PartIf<TileT::Math::kZeroPoints, StagedChannelCorrections<TileT>>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
