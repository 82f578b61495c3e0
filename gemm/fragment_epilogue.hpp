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
  static constexpr int kWords = kChannels * static_cast<int>(sizeof(Element)) / 4;

 public:
  // Writes the thread's results; pixels past the output are skipped, the zero channels that fill
  // the destination's last block are written as zeros.
  template <class Accumulators>
  WEFT_DEVICE static void Run(arch::Thread t, const Output& p, std::int32_t first_m,
                              std::int32_t first_k, const Accumulators& acc) {
    WEFT_UNROLL
    for (int g = 0; g < Map::kGroups; ++g) {
      RunGroup(t, p, first_m, first_k + Map::Channel(t, g), g, acc);
    }
  }

 private:
  template <class Accumulators>
  WEFT_DEVICE static void RunGroup(arch::Thread t, const Output& p, std::int32_t first_m,
                                   std::int32_t k0, int g, const Accumulators& acc) {
    if (k0 >= p.padded_k) return;
    ChannelValues channel;
    LoadChannels(t, p, k0, channel);
    std::uint32_t keep[kWords];
    WEFT_UNROLL
    for (int w = 0; w < kWords; ++w) {
      keep[w] = LeadingBytes((p.k - k0) * static_cast<int>(sizeof(Element)) - 4 * w);
    }

    WEFT_UNROLL
    for (int i = 0; i < Map::kPixels; ++i) {
      const std::int32_t m = first_m + Map::Pixel(t, i);
      if (m >= p.pixels) break;
      std::int32_t pq = 0;
      const std::int32_t n = p.image_pixels.Divmod(m, pq);
      epilogues::OutputCoord at{n, k0, 0, 0};
      if constexpr (Epilogue::kNeedsCoordinate) at.p = p.row_pixels.Divmod(pq, at.q);

      ResidualValues residual;
      if constexpr (Epilogue::kHasResidual) LoadResidual(t, p, n, pq, k0, residual);

      // Also beyond the last channel, whose scale and bias are 0: Store makes zeros of those. A
      // condition here would become a branch around every value.
      std::uint32_t words[kWords];
      if constexpr (Epilogue::OutputStage::kSaturates) {
        WEFT_UNROLL
        for (int j = 0; j < kChannels; j += 4) {
          float values[4];
          WEFT_UNROLL
          for (int e = 0; e < 4; ++e) {
            at.k = k0 + j + e;
            values[e] = p.epilogue.Unrounded(
                Inputs(p, channel, residual, j + e, Map::Get(acc, i, g, j + e)), at);
          }
          words[j / 4] = t.template PackSaturated<Element>(values);
        }
      } else {
        Element values[kChannels];
        WEFT_UNROLL
        for (int j = 0; j < kChannels; ++j) {
          at.k = k0 + j;
          values[j] = p.epilogue(Inputs(p, channel, residual, j, Map::Get(acc, i, g, j)), at);
        }
        memcpy(words, values, sizeof(words));
      }
      Store(t, p, n, pq, k0, words, keep);
    }
  }

  struct ChannelValues {
    float alpha[kChannels];
    float bias[kChannels];
  };
  struct ResidualValues {
    float value[kChannels];
  };

  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> Inputs(const Output& p,
                                                          const ChannelValues& channel,
                                                          const ResidualValues& residual, int j,
                                                          Sum accumulator) {
    epilogues::StageInputsOf<Sum> in;
    in.accumulator = accumulator;
    in.alpha = channel.alpha[j];
    in.bias = channel.bias[j];
    in.beta = p.beta;
    in.gamma = p.gamma;
    in.zero_point = p.zero_point;
    if constexpr (Epilogue::kHasResidual) in.residual = residual.value[j];
    return in;
  }

  WEFT_DEVICE static void LoadChannels(arch::Thread t, const Output& p, std::int32_t k0,
                                       ChannelValues& v) {
    const bool per_channel = Epilogue::kHasScale && p.channel_alpha != nullptr;
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      const bool inside = k0 + j < p.k;
      const float* alpha_address = per_channel ? p.channel_alpha + k0 + j : nullptr;
      const float alpha = t.LoadGlobalOr0(alpha_address, per_channel && inside);
      v.alpha[j] = per_channel ? alpha : p.alpha;
      v.bias[j] = 0.0f;
      if constexpr (Epilogue::kHasBias) {
        v.bias[j] = static_cast<float>(t.LoadGlobalOr0(p.bias + k0 + j, inside));
      }
    }
  }

  WEFT_DEVICE static void LoadResidual(arch::Thread t, const Output& p, std::int32_t n,
                                       std::int32_t pq, std::int32_t k0, ResidualValues& v) {
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
            k0 + j < p.k);
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          v.value[j + e] = static_cast<float>(static_cast<Source>(word >> (8 * e)));
        }
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        v.value[j] = static_cast<float>(
            t.LoadGlobalOr0(base + Layout::ChannelOffset(p.extents, k0 + j), k0 + j < p.k));
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

  // keep: masks of the bytes that belong to channels; the rest of a block becomes zeros.
  WEFT_DEVICE static void Store(arch::Thread t, const Output& p, std::int32_t n, std::int32_t pq,
                                std::int32_t k0, std::uint32_t (&words)[kWords],
                                const std::uint32_t (&keep)[kWords]) {
    Element* base = p.dst + n * Dst::ImageStride(p.extents) + PixelOffset<Dst>(p.extents, pq);
    if constexpr (Dst::kChannelRun > 1) {  // other formats have no zero channels
      WEFT_UNROLL
      for (int w = 0; w < kWords; ++w) words[w] &= keep[w];
    }
    constexpr int kBytes = kRun * static_cast<int>(sizeof(Element));
    using Vector = StoreVector<kBytes>;
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += kRun) {
      if (k0 + j >= p.padded_k) break;
      Vector v;
      memcpy(&v, reinterpret_cast<const unsigned char*>(words) + j * sizeof(Element), sizeof(v));
      t.StoreGlobal(reinterpret_cast<Vector*>(base + Dst::ChannelOffset(p.extents, k0 + j)), v);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
