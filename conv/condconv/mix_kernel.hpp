// MixKernel: filters mixed from experts, one for each image, for conv::CondConv.
//
// A packed filter's elements are where they are whatever the filter, so mixing is elementwise: a
// thread loads the same few bytes of every expert, makes floats of them once, and goes through the
// images. The bank is read once for all of a block's images; what takes time is writing a filter
// for each of them, and one fma for each expert and byte of it.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/epilogues/numerics.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"

namespace weft::conv {

// Most experts of a conv::CondConv.
inline constexpr int kMostExperts = 32;

// In the place of a policy, for gemm::RunOnGpu and its kin; compiled once for all operators.
struct MixFilters {};

// What a MixKernel is launched with; made by conv/condconv/mix_plan.hpp. Blocks enumerate (group of
// images, block of vectors), the latter fastest; a vector is what a thread has of a filter.
struct MixParams {
  const std::int8_t* experts = nullptr;  // one after the other, as the mixed filters
  std::int8_t* mixed = nullptr;
  const float* routing = nullptr;       // [images][count]
  const float* expert_scale = nullptr;  // [count][k], or null for ones
  std::int64_t filter_bytes = 0;
  std::int32_t vectors = 0;  // of a filter
  std::int32_t images = 0;
  std::int32_t group = 0;  // images of a block
  std::int32_t count = 0;  // of experts
  std::int32_t k = 0;      // output channels
  // The output channel of word i, of 4 bytes, is i / channel_words % channels: the formats have 4
  // input channels side by side, and surplus output channels, which have no scale.
  gemm::FastDivmod channel_words, channels;
  gemm::FastDivmod vector_blocks;
  bool early = false;  // the experts are loaded before earlier kernels of the stream have ended
};

inline namespace WEFT_BACKEND {

// kExperts: at most so many. kWords: of a vector.
template <int kExperts, int kWords>
struct MixKernel {
  using Params = MixParams;
  static constexpr int kMost = kExperts, kVectorBytes = 4 * kWords;
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;
  static constexpr int kMinBlocksPerSm = kExperts > 16 ? 2 : 4;
  static constexpr int kImages = 1024 / kExperts;  // whose routing weights are at hand

  struct SharedStorage {
    alignas(16) float weight[kImages][kExperts];
  };

  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    std::int32_t vector = 0;
    const std::int32_t first = p.vector_blocks.Divmod(t.block_x(), vector) * p.group;
    vector = vector * kThreads + t.tid();
    const bool inside = vector < p.vectors;
    t.LetLaterGridsStart();
    Vector experts[kExperts] = {};
    if (p.early && inside) {
      ForEachExpert(p, vector, [&](int e, const Vector* at) { experts[e] = t.LoadGlobal(at); });
    }
    t.WaitForEarlierGrids();
    if (!p.early && inside) {
      ForEachExpert(p, vector,
                    [&](int e, const Vector* at) { experts[e] = t.LoadGlobalCoherent(at); });
    }
    float value[kExperts][kBytes];
    Dequantize(t, p, vector, inside, experts, value);

    const std::int32_t end = first + p.group < p.images ? first + p.group : p.images;
    WEFT_NO_UNROLL
    for (std::int32_t base = first; base < end; base += kImages) {
      const int count = end - base < kImages ? end - base : kImages;
      if (base > first) t.SyncThreads();  // all have read the weights of the images before
      for (int i = t.tid(); i < count * kExperts; i += kThreads) {
        const int image = i / kExperts, e = i % kExperts;
        const float* const from = p.routing + std::int64_t{base + image} * p.count + e;
        t.StoreShared(&shared.weight[image][e], e < p.count ? t.LoadGlobalCoherent(from) : 0.0f);
      }
      t.SyncThreads();
      if (!inside) continue;
      std::int8_t* to = p.mixed + base * p.filter_bytes + Offset(vector);
      WEFT_NO_UNROLL
      for (int image = 0; image < count; ++image, to += p.filter_bytes) {
        t.StoreGlobal(reinterpret_cast<Vector*>(to), Mix(t, shared.weight[image], value));
      }
    }
  }

 private:
  static constexpr int kBytes = kVectorBytes;
  struct alignas(kBytes) Vector {
    std::uint32_t word[kWords];
  };
  struct alignas(16) Weights {
    float of[4];
  };

  // Of a vector in a filter, in bytes.
  WEFT_DEVICE static std::int64_t Offset(std::int32_t vector) {
    return std::int64_t{vector} * kBytes;
  }

  // visit(e, where its vector lies).
  template <class Visit>
  WEFT_DEVICE static void ForEachExpert(const Params& p, std::int32_t vector, const Visit& visit) {
    const std::int8_t* at = p.experts + Offset(vector);
    WEFT_UNROLL
    for (int e = 0; e < kExperts; ++e, at += p.filter_bytes) {
      if (e < p.count) visit(e, reinterpret_cast<const Vector*>(at));
    }
  }

  // value = expert_scale * float(expert), one rounding.
  WEFT_DEVICE static void Dequantize(arch::Thread t, const Params& p, std::int32_t vector,
                                     bool inside, const Vector (&experts)[kExperts],
                                     float (&value)[kExperts][kBytes]) {
    const bool scaled = inside && p.expert_scale != nullptr;
    float scale[kExperts];
    std::int32_t last = -1;  // the channel of the scales; mostly all words have the same
    WEFT_UNROLL
    for (int w = 0; w < kWords; ++w) {
      std::int32_t k = 0;
      (void)p.channels.Divmod(p.channel_words.Divide(vector * kWords + w), k);
      if (k != last) {
        const float* at = p.expert_scale + k;
        WEFT_UNROLL
        for (int e = 0; e < kExperts; ++e, at += p.k) {
          scale[e] = scaled && k < p.k && e < p.count ? t.LoadGlobalCoherent(at) : 1.0f;
        }
        last = k;
      }
      WEFT_UNROLL
      for (int e = 0; e < kExperts; ++e) {
        const std::uint32_t biased = experts[e].word[w] ^ 0x80808080u;
        WEFT_UNROLL
        for (int b = 0; b < 4; ++b) {
          value[e][4 * w + b] = epilogues::Mul(scale[e], Number(t, biased, b));
        }
      }
    }
  }

  // Byte b of a word, less 128, as a float: put below the bits of 2^23 it is added to that.
  // Conversions take longer.
  WEFT_DEVICE static float Number(arch::Thread t, std::uint32_t biased, int b) {
    const std::uint32_t bits = t.BytePermute(biased, 0x4b000000u, 0x7440u | b);
    return epilogues::Add(std::bit_cast<float>(bits), -8388736.0f);
  }

  // An fma for each expert, in their order; then rounded to bytes. Those past the last expert add
  // 0 * 0, which changes no number.
  WEFT_DEVICE static Vector Mix(arch::Thread t, const float (&weight)[kExperts],
                                const float (&value)[kExperts][kBytes]) {
    float sum[kBytes] = {};
    WEFT_UNROLL
    for (int e = 0; e < kExperts; e += 4) {
      const Weights weights = t.LoadShared(reinterpret_cast<const Weights*>(weight + e));
      WEFT_UNROLL
      for (int i = 0; i < 4; ++i) {
        WEFT_UNROLL
        for (int b = 0; b < kBytes; ++b) {
          sum[b] = epilogues::Fma(weights.of[i], value[e + i][b], sum[b]);
        }
      }
    }
    Vector mixed;
    WEFT_UNROLL
    for (int w = 0; w < kWords; ++w) {
      const float four[4] = {sum[4 * w], sum[4 * w + 1], sum[4 * w + 2], sum[4 * w + 3]};
      mixed.word[w] = t.template PackSaturated<std::int8_t>(four);
    }
    return mixed;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// With 64 floats of experts a thread: 4 x 16 bytes, 8 x 8, 16 x 4; or 32 x 4.
template <>
struct KernelList<conv::MixFilters> {
  static constexpr int kCount = 4;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Kernel = conv::MixKernel<4 << i, i == 0   ? 4
                                         : i == 1 ? 2
                                                  : 1>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
