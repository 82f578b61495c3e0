// What a staged store (staged_store.hpp) keeps of a tile's pixels in shared memory: where each
// begins in the destination, its image, and what the corrections for zero points need to know of
// it. The threads of a warpgroup work it out, one pixel each, while wgmma multiplies.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/staged/staged_tile.hpp"
#include "weft/gemm/staged/staged_values.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// TileT: a StagedTile.
template <class TileT>
struct StagedRows {
  using Math = typename TileT::Math;
  using Map = typename TileT::Map;
  static constexpr int kGroups = TileT::Mma::kGroups;

  struct Places {
    // Where each pixel begins in the destination, in elements; negative: it is outside the output.
    alignas(16) std::int64_t offset[kGroups][TileT::kPixels];
  };
  struct BytesAndPlaces {  // no base class: derived members could be laid out in its tail padding
    alignas(128) std::uint8_t chunk[kGroups][TileT::kRows * TileT::kChunks][16];
    alignas(16) std::int64_t offset[kGroups][TileT::kPixels];  // as in Places
  };
  using Plain = std::conditional_t<TileT::kByteOutputs, BytesAndPlaces, Places>;
  struct WithTerms : Plain {
    alignas(16) typename Math::PixelTerms terms[kGroups][TileT::kPixels];
  };
  using WithoutSums = std::conditional_t<Math::kTerms, WithTerms, Plain>;
  struct WithImages : WithoutSums {
    std::int32_t image[kGroups][TileT::kPixels];  // each pixel's image; negative: it is outside
  };
  using WithoutHalves = std::conditional_t<TileT::Epilogue::kHasSums, WithImages, WithoutSums>;
  template <class Halves>
  struct WithHalves : WithoutHalves {
    typename Halves::Shared halves;
  };
  struct NoHalves : WithoutHalves {};  // derived, too: what follows may lie in its last bytes
  using Shared =
      std::conditional_t<kStagesValues<TileT>, WithHalves<StagedValuesOf<TileT>>, NoHalves>;

  // All 128 threads of a warpgroup call it, each for every 128th pixel.
  template <class Output, class Tile>
  WEFT_DEVICE static void Prepare(arch::Thread t, Shared& shared, const Output& p, const Tile& tile,
                                  std::int32_t first_m) {
    using Dst = typename TileT::Dst;
    const std::int64_t image = Dst::ImageStride(p.extents);
    WEFT_UNROLL
    for (int i = 0; i < TileT::kPixels; i += 128) {
      const int number = i + t.tid() % 128;
      const OutputPixel pixel = p.rows.Pixel(tile, first_m + TileT::Pixels::NumberOf(t, number));
      const std::int64_t offset =
          pixel.inside ? pixel.n * image + PixelOffset<Dst>(p.extents, pixel.pq) : -1;
      const bool mine = i + 128 <= TileT::kPixels || number < TileT::kPixels;
      if (mine) shared.offset[Map::Group(t)][number] = offset;
      if constexpr (TileT::Epilogue::kHasSums) {
        const std::int32_t n = pixel.inside ? pixel.n : -1;
        if (mine) shared.image[Map::Group(t)][number] = n;
      }
      if constexpr (Math::kTerms) {
        const auto terms = Math::TermsOf(t, p, tile, pixel);
        if (mine) shared.terms[Map::Group(t)][number] = terms;
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
