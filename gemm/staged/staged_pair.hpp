// The conversion of accumulators to outputs in a staged store (staged_store.hpp), for the four that
// a thread has of two channels of two neighbouring pixels: they make one word of stmatrix.
#pragma once

#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/staged/staged_auxiliary.hpp"
#include "weft/gemm/staged/staged_residual.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/staged/staged_values.hpp"
#include "weft/gemm/staged/staged_zero_points.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// TileT: a StagedTile.
template <class TileT>
struct StagedPair {
  using Residual = typename ResidualOf<TileT>::type;
  using Auxiliary = typename AuxiliaryOf<TileT>::type;
  using Math = typename TileT::Math;
  using Map = typename TileT::Map;
  using Epilogue = typename TileT::Epilogue;
  using Element = typename TileT::Element;
  using Output = typename TileT::Output;
  static constexpr bool kLooks =
      Residual::kNeedsPixel || Auxiliary::kNeedsPixel || Epilogue::kNeedsCoordinate;

  // Converts channels A and B, of column block x, of pixels i and i + 1, and returns the outputs as
  // bytes {A, B, A', B'} of a word. residual: a staged residual in the same order. edge: whether
  // any of the warp's eight pixels is at the border. half[e]: where 16-bit values are staged, those
  // of channel e of both pixels.
  template <bool kShift, class Shared, class Tile>
  WEFT_DEVICE static std::uint32_t Pack(arch::Thread t, const Shared& shared, const Output& p,
                                        const Tile& tile, std::int32_t first_m, int i, int x,
                                        bool edge, const typename Math::Channels (&c)[Map::kGroups],
                                        std::uint32_t residual,
                                        const typename Map::Accumulators& acc,
                                        typename Math::Range (&ranges)[Map::kGroups],
                                        std::uint32_t (&half)[2]) {
    float values[4];
    Element outputs[4];
    auto auxiliary = Auxiliary::Begin(t, shared, i, first_m);
    std::uint32_t shift[4] = {};
    StagedCorrectionsOf<TileT>::Find(t, shared, i, x, c, shift);
    typename Map::Sum sums[4];
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) sums[v] = Map::Get(acc, i + v / 2, 2 * x + v % 2, 0);
    StagedCorrectionsOf<TileT>::AddEdges(t, shared, p, i, x, edge, c, sums);
    WEFT_UNROLL
    for (int v = 0; v < 4; ++v) {
      const int g = 2 * x + v % 2;
      OutputPixel pixel;
      epilogues::OutputCoord at{};
      if constexpr (kLooks) {
        pixel = p.rows.Pixel(tile, first_m + Map::Pixel(t, i + v / 2));
        at = Math::CoordOf(p, tile, pixel);
        at.k += c[g].k;
      }
      const bool wanted = pixel.inside && c[g].count > 0;
      if constexpr (Epilogue::kNeedsCoordinate) {
        if (!wanted) {
          values[v] = 0.0f;
          outputs[v] = Element{};
          Auxiliary::SeeNothing(t, p, pixel, c[g], ranges[g]);
          continue;
        }
      }
      const float other = Residual::Of(t, p, pixel, wanted, c[g], residual, v);
      const auto in = Math::InputsOf(p, c[g], shift[v], other, sums[v]);
      if constexpr (Epilogue::OutputStage::kSaturates) {
        values[v] = p.epilogue.template Unrounded<kShift>(in, at);
      } else {
        outputs[v] = p.epilogue(in, at);
      }
      Auxiliary::See(t, p, in, at, pixel, v, auxiliary, c[g], ranges[g]);
    }
    StagedValuesOf<TileT>::Pack(outputs, auxiliary, half);
    return Word(t, values, outputs);
  }

 private:
  // The four outputs as the bytes of a word.
  WEFT_DEVICE static std::uint32_t Word(arch::Thread t, float (&values)[4],
                                        const Element (&outputs)[4]) {
    std::uint32_t word = 0;
    if constexpr (Epilogue::OutputStage::kSaturates) {
      word = t.template PackSaturated<Element, Epilogue::kEndsInActivation>(values);
    } else if constexpr (TileT::kByteOutputs) {
      memcpy(&word, outputs, sizeof(word));
    }
    return word;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
