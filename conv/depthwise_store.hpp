// Where a depthwise kernel's outputs go: as every mainloop's, straight from its registers, but for
// bytes in NCxHWx<4>. There a pixel's 4 channels are 4 bytes, and a thread's 4 pixels lie side by
// side: written one by one, each store of a warp would touch a part of every sector.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/conv/depthwise_params.hpp"
#include "weft/gemm/epilogue_math.hpp"
#include "weft/gemm/epilogue_store.hpp"
#include "weft/gemm/operand.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Bytes to NCxHWx<4>. The parameters are those of gemm::DirectStore.
template <class P, class Output, class Map>
class PixelRunStore {
  using Math = gemm::EpilogueMath<P, Output, 4>;
  using Dst = typename P::DstLayout;
  using Epilogue = typename P::Epilogue;
  using Element = typename Epilogue::Output;
  static constexpr int kColumns = DepthwiseConfig::kColumns;
  static_assert(sizeof(Element) == 1 && Dst::kChannelRun == 4 && kColumns == 4);

 public:
  WEFT_DEVICE static void Run(arch::Thread t, const Output& p, const DepthwiseTile& tile,
                              std::int32_t, std::int32_t, const typename Map::Accumulators& acc) {
    typename Math::Channels channels;
    Math::Load(t, p, tile.k, p.k, channels);
    const std::uint32_t keep = channels.count >= 4   ? ~0u
                               : channels.count <= 0 ? 0u
                                                     : (1u << (8 * channels.count)) - 1u;
    Element* const image =
        p.dst + tile.n * Dst::ImageStride(p.extents) + Dst::ChannelOffset(p.extents, tile.k);
    WEFT_UNROLL
    for (int i = 0; i < Map::kPixels; i += kColumns) {
      std::uint32_t word[kColumns];
      bool wanted[kColumns];
      WEFT_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        const gemm::OutputPixel pixel = p.rows.Pixel(tile, i + j);
        wanted[j] = pixel.inside;
        word[j] = 0;
        // A branch only where a stage would see a coordinate outside.
        if (Epilogue::kNeedsCoordinate && !pixel.inside) continue;
        const epilogues::OutputCoord at{tile.n, 0, tile.p + i / kColumns, tile.q + j};
        struct alignas(4) Outputs {
          Element value[4];
        } outputs;
        Math::Convert(
            t, p, pixel, at, pixel.inside, channels,
            [&](int e) { return Map::Get(acc, i + j, 0, e); }, outputs.value);
        memcpy(&word[j], &outputs, sizeof(word[j]));
        word[j] &= keep;
      }
      Element* const to = image + std::int64_t{p.rows.Pixel(tile, i).pq} * 4;
      StoreRow(t, to, word, wanted, p.rows.run);
    }
  }

 private:
  // A row of the image is a whole number of runs, and the run's bytes are aligned.
  WEFT_DEVICE static void StoreRow(arch::Thread t, Element* to,
                                   const std::uint32_t (&word)[kColumns],
                                   const bool (&wanted)[kColumns], int run) {
    if (run == 4) {
      if (wanted[0]) {
        t.StoreGlobal(reinterpret_cast<gemm::Piece<16>*>(to),
                      gemm::Piece<16>{{word[0], word[1], word[2], word[3]}});
      }
    } else if (run == 2) {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; j += 2) {
        if (wanted[j]) {
          t.StoreGlobal(reinterpret_cast<gemm::Piece<8>*>(to + 4 * j),
                        gemm::Piece<8>{{word[j], word[j + 1]}});
        }
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kColumns; ++j) {
        if (wanted[j]) t.StoreGlobal(reinterpret_cast<std::uint32_t*>(to + 4 * j), word[j]);
      }
    }
  }
};

template <class P, class Output, class Map>
using DepthwiseStore =
    std::conditional_t<sizeof(typename P::Epilogue::Output) == 1 && P::DstLayout::kChannelRun == 4,
                       std::type_identity<PixelRunStore<P, Output, Map>>,
                       std::type_identity<gemm::DirectStore<P, Output, Map>>>::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
