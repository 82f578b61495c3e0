// Sums of the outputs over the pixels of each image, for the epilogue stages ImageSums (beside the
// outputs) and OnlyImageSums (in their place).
//
// A warp adds up what it has of an image before it adds the result to global memory: one atomic for
// each channel and image of its tile. Sums are int32, so that the order of the atomics does not
// matter.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/fold_lanes.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Adds the four bytes of a word to sum[0] to sum[3].
template <class Element>
WEFT_DEVICE void AddBytes(arch::Thread t, std::uint32_t word, std::int32_t* sum) {
  WEFT_UNROLL
  for (int b = 0; b < 4; ++b) {
    const std::uint32_t one = 1u << (8 * b);
    if constexpr (std::is_signed_v<Element>) {
      sum[b] = t.Dp4a(word, one, sum[b]);
    } else {
      sum[b] = t.Dp4aU8S8(word, one, sum[b]);
    }
  }
}

// Adds up sum[i] over all lanes whose numbers differ in the bits of kLanes only, and calls
// add(base + i, sum) for each i in one of these lanes. All lanes of the warp call it.
template <int kLanes, int kCount, class Add>
WEFT_DEVICE void AddUpLanes(arch::Thread t, std::int32_t (&sum)[kCount], int base, bool mine,
                            const Add& add) {
  FoldLanes<kLanes>(t, sum, base, mine, [](std::int32_t x, std::int32_t y) { return x + y; }, add);
}

// The minimum of x over all lanes whose numbers differ in the bits of kLanes only.
template <int kLanes>
WEFT_DEVICE std::int32_t LeastOfLanes(arch::Thread t, std::int32_t x) {
  WEFT_UNROLL
  for (int bit = 16; bit > 0; bit /= 2) {
    if ((kLanes & bit) == 0) continue;
    const std::int32_t other = t.ShflXor(x, bit);
    x = other < x ? other : x;
  }
  return x;
}

// The image sums of a DirectStore: a thread keeps its outputs of a tile, which are bytes, in
// registers in the arrangement of AccumulatorMap Map, and AddUp sums them image by image.
template <class Element, class Map>
struct FragmentSums {
  static_assert(sizeof(Element) == 1);
  static constexpr int kChannels = Map::kChannels, kWords = CeilDiv(kChannels, 4);
  static constexpr std::int32_t kNone = 0x7fffffff;

  std::int32_t image[Map::kPixels];  // each pixel's image; negative: the pixel is outside
  std::uint32_t word[Map::kPixels][Map::kGroups][kWords] = {};

  // Begin says which image pixel i belongs to; Take keeps its outputs of group g.
  WEFT_DEVICE void Begin(int i, std::int32_t of_image) { image[i] = of_image; }
  WEFT_DEVICE void Take(int i, int g, const Element (&outputs)[kChannels]) {
    memcpy(word[i][g], outputs, kChannels);
  }

  // Takes the images that the warp has in ascending order and adds each one's sums to global
  // memory; all lanes of the warp call it. first_k: the tile's first channel. end: one past its
  // last.
  template <class Output>
  WEFT_DEVICE void AddUp(arch::Thread t, const Output& p, std::int32_t first_k,
                         std::int32_t end) const {
    std::int32_t* const to = p.epilogue.template Get<typename Output::Epilogue::SumsStage>().to;
    std::int32_t now = -1;
    for (;;) {
      std::int32_t next = kNone;
      WEFT_UNROLL
      for (int i = 0; i < Map::kPixels; ++i) {
        if (image[i] > now && image[i] < next) next = image[i];
      }
      now = LeastOfLanes<31>(t, next);
      if (now == kNone) return;
      std::int32_t sum[Map::kGroups * kWords * 4] = {};
      WEFT_UNROLL
      for (int i = 0; i < Map::kPixels; ++i) {
        const std::uint32_t keep = image[i] == now ? ~0u : 0u;
        WEFT_UNROLL
        for (int v = 0; v < Map::kGroups * kWords; ++v) {
          AddBytes<Element>(t, word[i][v / kWords][v % kWords] & keep, sum + 4 * v);
        }
      }
      AddUpLanes<Map::kSharingLanes>(t, sum, 0, true, [&](int v, std::int32_t x) {
        const int j = v % (4 * kWords);
        const std::int32_t k = first_k + Map::Channel(t, v / (4 * kWords)) + j;
        if (j < kChannels && k < end) t.AddGlobal(to + std::int64_t{now} * p.k + k, x);
      });
    }
  }
};

template <class Element, class Map>
struct Absent<FragmentSums<Element, Map>> {
  WEFT_DEVICE void Begin(int, std::int32_t) {}
  WEFT_DEVICE void Take(int, int, const Element (&)[Map::kChannels]) {}
  template <class Output>
  WEFT_DEVICE void AddUp(arch::Thread, const Output&, std::int32_t, std::int32_t) const {}
};

// The image sums of a StagedStore: a warp adds up one chunk of 16 channels, one byte each, over
// kRows pixels in shared memory. Pixel `row` belongs to image[row], negative if it is outside, and
// its chunk lies at chunk(row). channel(b) is the channel of byte b. All lanes of the warp call it.
template <int kRows, class Output, class ChunkOf, class ChannelOf>
WEFT_DEVICE void AddUpChunks(arch::Thread t, const Output& p, const std::int32_t* image,
                             std::int32_t end, const ChunkOf& chunk, const ChannelOf& channel) {
  using Element = typename Output::Output;
  static_assert(sizeof(Element) == 1 && kRows % 8 == 0);
  constexpr int kRowLanes = 4 + 8 + 16;  // four lanes read a chunk, a word each
  constexpr std::int32_t kNone = 0x7fffffff;
  std::int32_t* const to = p.epilogue.template Get<typename Output::Epilogue::SumsStage>().to;
  const int word = t.lane() % 4;
  std::int32_t now = -1;
  std::int32_t sum[4] = {};
  const auto flush = [&] {
    if (now < 0) return;
    AddUpLanes<kRowLanes>(t, sum, 0, true, [&](int b, std::int32_t x) {
      const std::int32_t k = channel(4 * word + b);
      if (k < end) t.AddGlobal(to + std::int64_t{now} * p.k + k, x);
    });
  };
  WEFT_NO_UNROLL
  for (int row = t.lane() / 4; row < kRows; row += 8) {
    const std::int32_t n = t.LoadShared(image + row);
    const std::uint32_t bytes =
        t.LoadShared(reinterpret_cast<const std::uint32_t*>(chunk(row)) + word);
    bool left = n >= 0;
    for (;;) {
      if (left && n == now) {
        AddBytes<Element>(t, bytes, sum);
        left = false;
      }
      if (t.Ballot(left) == 0) break;
      flush();
      now = LeastOfLanes<kRowLanes>(t, left ? n : kNone);
      WEFT_UNROLL
      for (int b = 0; b < 4; ++b) sum[b] = 0;
    }
  }
  flush();
}

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
