// The second half of an epilogue: a thread stores its outputs to global memory straight from its
// registers.
//
// The threads of a warp hold neighbouring pixels, in runs of 4 channels or more, so that the stores
// of every format fill whole 32-byte sectors (docs/decisions/0001).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/epilogue/epilogue_math.hpp"
#include "weft/gemm/epilogue/image_sums.hpp"
#include "weft/gemm/epilogue/pixel_offset.hpp"
#include "weft/gemm/tile/accumulators.hpp"
#include "weft/gemm/tile/tile.hpp"
#include "weft/gemm/tile/traits.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// PolicyT has DstLayout, Epilogue, config and the members of StorePolicyTraits. Output is an
// OutputParams.
template <class PolicyT, class Output, AccumulatorMap Map>
class DirectStore : public EpilogueTraits {
  static constexpr int kChannels = Map::kChannels;
  using Math = EpilogueMath<PolicyT, Output, kChannels>;
  using Dst = typename PolicyT::DstLayout;
  using Epilogue = typename PolicyT::Epilogue;
  using Element = typename Epilogue::Output;
  // An int4 destination: outputs are one byte each until Pair packs two channels into a byte.
  static constexpr bool kPaired = kIsInt4<Dst>;
  // Whether stores are predicated instead of behind branches, where PolicyT asks for it. Behind a
  // branch nvcc computes each pixel's whole address anew; with predicates it shares most of that
  // computation, at the price of registers.
  static constexpr bool kPredicated =
      PolicyT::kPredicatedStores &&
      (PolicyT::config.alignment.dst == 4 || PolicyT::config.alignment.dst == 8);
  static constexpr std::int64_t kStored = weft::internal::kStoredElements<Dst>;
  static constexpr int kBits = static_cast<int>(weft::internal::kElementBits<Dst, Element>);
  static constexpr int kRun = 8 * PolicyT::config.alignment.dst / kBits;
  // How many channels are adjacent in memory: those of a channel block; in matrices and NHWC all.
  static constexpr int kRunsApart = Dst::kChannelRun == 0 ? 1 << 30 : Dst::kChannelRun;
  static constexpr bool Fits(int run) {
    return run == 0 || kChannels % run == 0 || run % kChannels == 0;
  }
  static_assert(Fits(Dst::kChannelRun));

 public:
  static constexpr bool kDependent = Math::kDependent;
  // What a thread keeps from one tile to the next: nothing here.
  struct Kept {};

  // Stores the thread's outputs of `tile`, which begins at row first_m and column first_n of its
  // product. Nothing is stored past the end of the output; the channels that pad the destination's
  // last block are stored as zeros.
  template <class Tile>
  WEFT_DEVICE static void Run(arch::Thread t, const Output& p, const Tile& tile,
                              std::int32_t first_m, std::int32_t first_n,
                              const typename Map::Accumulators& acc) {
    const std::int32_t end = p.rows.EndChannel(tile, p.k);
    const std::int32_t padded_end = end == p.k ? p.padded_k : end;
    const std::int32_t first_k = p.rows.FirstChannel(tile) + first_n;
    typename Math::Channels channels[Map::kGroups];
    Part parts[Map::kGroups];
    WEFT_UNROLL
    for (int g = 0; g < Map::kGroups; ++g) {
      Math::Load(t, p, first_k + Map::Channel(t, g), end, channels[g], p.rows.ValueOffset(tile));
      parts[g] = MakePart(p, channels[g].k, channels[g].count);
    }
    const std::int64_t image = Dst::ImageStride(p.extents);
    const std::int64_t block = Dst::ChannelOffset(p.extents, kRunsApart);
    Sums sums;
    typename Math::Range ranges[Map::kGroups];
    WEFT_UNROLL
    for (auto& range : ranges) range.Clear();
    WEFT_UNROLL
    for (int i = 0; i < Map::kPixels; ++i) {
      const OutputPixel pixel = p.rows.Pixel(tile, first_m + Map::Pixel(t, i));
      sums.Begin(i, pixel.inside ? pixel.n : -1);
      const std::int64_t first = pixel.n * image + PixelOffset<Dst>(p.extents, pixel.pq);
      Element* const to = Epilogue::kWritesOutput ? p.dst + first / kStored : nullptr;
      const auto terms = Math::TermsOf(t, p, tile, pixel);
      WEFT_UNROLL
      for (int g = 0; g < Map::kGroups; ++g) {
        // Outputs outside are masked by predicates, without branches, except where a stage would
        // otherwise be called with a coordinate outside the output.
        const bool wanted = pixel.inside && channels[g].k < padded_end;
        if (Epilogue::kNeedsCoordinate && !wanted) continue;
        const epilogues::OutputCoord at = Math::CoordOf(p, tile, pixel);
        Outputs outputs;
        Math::Convert(
            t, p, pixel, at, wanted, channels[g], terms,
            [&](int j) { return Map::Get(acc, i, g, j); }, outputs.value, ranges[g]);
        ZeroPadding(parts[g], outputs);
        sums.Take(i, g, outputs.value);
        if constexpr (kPaired) Pair(outputs);
        if constexpr (Epilogue::kWritesOutput) {
          WEFT_UNROLL
          for (int j = 0; j < kChannels; j += kRun) {
            Vector v;
            memcpy(&v, outputs.value + j / kStored, sizeof(v));
            const bool there = wanted && channels[g].k + j < padded_end;
            const auto place = [&] {
              const std::int64_t offset = parts[g].offset + Apart(p, channels[g].k, j, block, tile);
              return reinterpret_cast<Vector*>(to + offset / kStored);
            };
            if constexpr (kPredicated) {
              t.StoreGlobalIf(place(), v, there);
            } else if (there) {
              t.StoreGlobal(place(), v);
            }
          }
        }
      }
    }
    sums.AddUp(t, p, first_k, end);
    WriteRanges<Map::kSharingLanes>(t, p, ranges, end,
                                    [&](int g) { return first_k + Map::Channel(t, g); });
  }

 private:
  using Sums = PartIf<Epilogue::kHasSums, FragmentSums<Element, Map>>;

  static constexpr int kBytes = kChannels * static_cast<int>(sizeof(Element));
  // Whether outputs past the last channel are stored, as zeros.
  static constexpr bool kZeros = Dst::kChannelRun > 1;
  static constexpr int kWords = CeilDiv(kBytes, 4);

  // A group of channels: where it begins in an image, in elements, and a mask of the bytes that
  // belong to existing channels, word by word.
  struct Part {
    std::int64_t offset;
    std::uint32_t mask[kZeros ? kWords : 1];
  };
  struct alignas(16) Outputs {
    Element value[kChannels];
  };
  // kRun outputs, written as one access.
  struct alignas(PolicyT::config.alignment.dst) Vector {
    unsigned char byte[PolicyT::config.alignment.dst];
  };

  WEFT_DEVICE static Part MakePart(const Output& p, std::int32_t k, std::int32_t count) {
    Part part;
    part.offset = Dst::ChannelOffset(p.extents, k);
    WEFT_UNROLL
    for (int w = 0; kZeros && w < kWords; ++w) {
      part.mask[w] = FirstBytes(count * static_cast<int>(sizeof(Element)) - 4 * w);
    }
    return part;
  }

  WEFT_DEVICE static void ZeroPadding(const Part& part, Outputs& outputs) {
    if constexpr (kZeros) {
      std::uint32_t words[kWords] = {};
      memcpy(words, outputs.value, kBytes);
      WEFT_UNROLL
      for (int w = 0; w < kWords; ++w) words[w] &= part.mask[w];
      memcpy(outputs.value, words, kBytes);
    }
  }

  // Packs int4 outputs, one to a byte, as two to a byte in the first half of `outputs`.
  WEFT_DEVICE static void Pair(Outputs& outputs) {
    static_assert(sizeof(Element) == 1 && kChannels % 4 == 0 && kRun % 2 == 0);
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += 4) {
      std::uint32_t word;
      memcpy(&word, outputs.value + j, sizeof(word));
      const auto pairs = static_cast<std::uint16_t>(PairInt4(word));
      memcpy(outputs.value + j / 2, &pairs, sizeof(pairs));
    }
  }

  // Elements from channel k of a group to channel k + j. block: elements from one run of adjacent
  // channels to the next. Where a tile's first channel may lie within a run (kUnaligned), as with
  // channel groups of a convolution, the offset is worked out anew.
  template <class Tile>
  WEFT_DEVICE static std::int64_t Apart(const Output& p, std::int32_t k, int j, std::int64_t block,
                                        const Tile&) {
    if constexpr (Output::Rows::template kUnaligned<Tile>) {
      return Dst::ChannelOffset(p.extents, k + j) - Dst::ChannelOffset(p.extents, k);
    } else {
      return j / kRunsApart * block + j % kRunsApart;
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
