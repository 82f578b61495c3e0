// From accumulators to the destination: the epilogue of one thread, for every mainloop.
//
// A mainloop says through a Map which outputs a thread holds: kPixels rows i, kGroups groups g of
// kChannels adjacent channels each;
//     WEFT_DEVICE static int Pixel(arch::Thread t, int i);    within the threadblock tile
//     WEFT_DEVICE static int Channel(arch::Thread t, int g);  the first of the group, likewise
//     static constexpr Sum Get(const Accumulators&, int i, int g, int j);  channel j of the group
//
// Threads of a warp that hold neighbouring pixels, and runs of 4 channels or more, make the stores
// of every format whole 32-byte sectors (docs/decisions/0001).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// kBytes bytes written as one access.
template <int kBytes>
struct alignas(kBytes) StoreVector {
  unsigned char byte[kBytes];
};

// Policy: DstLayout, Epilogue, config. Output: OutputParams<Policy>.
template <class Policy, class Map, class Output>
class FragmentEpilogue {
  using Dst = typename Policy::DstLayout;
  using Epilogue = typename Policy::Epilogue;
  using Element = typename Epilogue::Output;
  static constexpr int kChannels = Map::kChannels;
  static constexpr int kRun = Policy::config.alignment.dst / static_cast<int>(sizeof(Element));
  // Channels of one block lie side by side, those of matrices and NHWC all do.
  static constexpr int kRunsApart = Dst::kChannelRun == 0 ? 1 << 30 : Dst::kChannelRun;
  static_assert(Dst::kChannelRun == 0 || kChannels % Dst::kChannelRun == 0 ||
                Dst::kChannelRun % kChannels == 0);
  static constexpr int kWords = kChannels * static_cast<int>(sizeof(Element)) / 4;

 public:
  // Writes the thread's results; pixels past the output are skipped, the zero channels that fill
  // the destination's last block are written as zeros.
  //
  // What depends on the channel alone, or on the pixel alone, is worked out once: short sums spend
  // as long here as in the mainloop.
  template <class Accumulators>
  WEFT_DEVICE static void Run(arch::Thread t, const Output& p, std::int32_t first_m,
                              std::int32_t first_k, const Accumulators& acc) {
    Group group[Map::kGroups];
    WEFT_UNROLL
    for (int g = 0; g < Map::kGroups; ++g) {
      MakeGroup(t, p, first_k + Map::Channel(t, g), group[g]);
    }
    const std::int64_t image = Dst::ImageStride(p.extents);
    const std::int64_t block = Dst::ChannelOffset(p.extents, kRunsApart);
    WEFT_UNROLL
    for (int i = 0; i < Map::kPixels; ++i) {
      const std::int32_t m = first_m + Map::Pixel(t, i);
      const bool inside = m < p.pixels;
      std::int32_t pq = 0;
      const std::int32_t n = p.image_pixels.Divmod(m, pq);
      Element* const pixel = p.dst + n * image + PixelOffset<Dst>(p.extents, pq);
      WEFT_UNROLL
      for (int g = 0; g < Map::kGroups; ++g) {
        // Predicates instead of branches, except where a stage would see a coordinate outside.
        const bool wanted = inside && group[g].k < p.padded_k;
        if (Epilogue::kNeedsCoordinate && !wanted) continue;
        std::uint32_t words[kWords];
        Convert(t, p, n, pq, wanted, group[g], i, g, acc, words);
        Store(t, p, pixel + group[g].offset, block, group[g], wanted, words);
      }
    }
  }

 private:
  // kChannels adjacent channels, from k.
  using BiasValue = typename Epilogue::BiasValue;
  struct Group {
    std::int32_t k;
    std::int64_t offset;         // of channel k in an image
    std::uint32_t keep[kWords];  // masks of the bytes that belong to channels
    float alpha[kChannels];
    BiasValue bias[kChannels];
  };
  struct ResidualValues {
    float value[kChannels];
  };

  WEFT_DEVICE static void MakeGroup(arch::Thread t, const Output& p, std::int32_t k, Group& group) {
    group.k = k;
    group.offset = Dst::ChannelOffset(p.extents, k);
    WEFT_UNROLL
    for (int w = 0; w < kWords; ++w) {
      group.keep[w] = LeadingBytes((p.k - k) * static_cast<int>(sizeof(Element)) - 4 * w);
    }
    LoadChannels(t, p, group);
  }

  // The bytes of group g of pixel i, which is pixel pq of image n.
  template <class Accumulators>
  WEFT_DEVICE static void Convert(arch::Thread t, const Output& p, std::int32_t n, std::int32_t pq,
                                  bool wanted, const Group& group, int i, int g,
                                  const Accumulators& acc, std::uint32_t (&words)[kWords]) {
    epilogues::OutputCoord at{n, group.k, 0, 0};
    if constexpr (Epilogue::kNeedsCoordinate) at.p = p.row_pixels.Divmod(pq, at.q);
    ResidualValues residual;
    if constexpr (Epilogue::kHasResidual) {
      LoadResidual(t, p, n, pq, wanted ? p.k - group.k : 0, group.k, residual);
    }

    // Also beyond the last channel, whose scale and bias are 0: Store makes zeros of those. A
    // condition here would become a branch around every value.
    if constexpr (Epilogue::OutputStage::kSaturates) {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        float values[4];
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          at.k = group.k + j + e;
          values[e] = p.epilogue.Unrounded(
              Inputs(p, group, residual, j + e, Map::Get(acc, i, g, j + e)), at);
        }
        words[j / 4] = t.template PackSaturated<Element>(values);
      }
    } else {
      Element values[kChannels];
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        at.k = group.k + j;
        values[j] = p.epilogue(Inputs(p, group, residual, j, Map::Get(acc, i, g, j)), at);
      }
      memcpy(words, values, sizeof(words));
    }
  }

  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> Inputs(const Output& p, const Group& group,
                                                          const ResidualValues& residual, int j,
                                                          Sum accumulator) {
    epilogues::StageInputsOf<Sum> in;
    in.accumulator = accumulator;
    in.alpha = group.alpha[j];
    if constexpr (Epilogue::kBiasInSum) {
      in.sum_bias = group.bias[j];
    } else {
      in.bias = group.bias[j];
    }
    in.beta = p.beta;
    in.gamma = p.gamma;
    in.zero_point = p.zero_point;
    if constexpr (Epilogue::kHasResidual) in.residual = residual.value[j];
    return in;
  }

  WEFT_DEVICE static void LoadChannels(arch::Thread t, const Output& p, Group& group) {
    const bool per_channel = Epilogue::kHasScale && p.channel_alpha != nullptr;
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      const bool inside = group.k + j < p.k;
      const float* alpha_address = per_channel ? p.channel_alpha + group.k + j : nullptr;
      const float alpha = t.LoadGlobalOr0(alpha_address, per_channel && inside);
      group.alpha[j] = per_channel ? alpha : p.alpha;
      group.bias[j] = 0;
      if constexpr (Epilogue::kHasBias) {
        group.bias[j] = static_cast<BiasValue>(t.LoadGlobalOr0(p.bias + group.k + j, inside));
      }
    }
  }

  // channels: how many of the group there are.
  WEFT_DEVICE static void LoadResidual(arch::Thread t, const Output& p, std::int32_t n,
                                       std::int32_t pq, std::int32_t channels, std::int32_t k0,
                                       ResidualValues& v) {
    using Stage = typename Epilogue::ResidualStage;
    using Layout = std::conditional_t<std::is_same_v<typename Stage::Layout, epilogues::SameAsDst>,
                                      Dst, typename Stage::Layout>;
    using Source = typename Stage::Element;
    const Source* base =
        p.residual + n * Layout::ImageStride(p.extents) + PixelOffset<Layout>(p.extents, pq);
    if constexpr (Layout::kChannelRun >= 4 && sizeof(Source) == 1) {
      // Blocks of 4 channels and more are whole words, their zero channels included.
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        const std::uint32_t word = t.LoadGlobalOr0(
            reinterpret_cast<const std::uint32_t*>(base + Layout::ChannelOffset(p.extents, k0 + j)),
            j < channels);
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          v.value[j + e] = static_cast<float>(static_cast<Source>(word >> (8 * e)));
        }
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        v.value[j] = static_cast<float>(
            t.LoadGlobalOr0(base + Layout::ChannelOffset(p.extents, k0 + j), j < channels));
      }
    }
  }

  // Of tensor formats the stride is at most the number of channels: one multiplication.
  template <class Layout>
  WEFT_DEVICE static std::int64_t PixelOffset(const TensorExtents& e, std::int32_t pq) {
    if constexpr (TensorFormat<Layout>) {
      return static_cast<std::int64_t>(pq) * static_cast<std::int32_t>(Layout::PixelStride(e));
    } else {
      return pq * Layout::PixelStride(e);
    }
  }

  // A mask of the first `count` bytes of a word.
  WEFT_DEVICE static std::uint32_t LeadingBytes(int count) {
    return count >= 4 ? ~0u : count <= 0 ? 0u : (1u << (8 * count)) - 1u;
  }

  // dst: of the group's first channel. block: from one run of adjacent channels to the next.
  WEFT_DEVICE static void Store(arch::Thread t, const Output& p, Element* dst, std::int64_t block,
                                const Group& group, bool wanted, std::uint32_t (&words)[kWords]) {
    if constexpr (Dst::kChannelRun > 1) {  // other formats have no zero channels
      WEFT_UNROLL
      for (int w = 0; w < kWords; ++w) words[w] &= group.keep[w];
    }
    constexpr int kBytes = kRun * static_cast<int>(sizeof(Element));
    using Vector = StoreVector<kBytes>;
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += kRun) {
      Vector v;
      memcpy(&v, reinterpret_cast<const unsigned char*>(words) + j * sizeof(Element), sizeof(v));
      if (wanted && group.k + j < p.padded_k) {
        t.StoreGlobal(reinterpret_cast<Vector*>(dst + j / kRunsApart * block + j % kRunsApart), v);
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
