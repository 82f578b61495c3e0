// MixKernel: mixes a filter for each image from experts, for conv::CondConv.
//
// An element of a packed filter has the same place in every filter, so mixing is elementwise: a
// thread loads the same few bytes of every expert, converts them to float once, and then goes
// through the images. The bank of experts is read once for all images of a block. The time goes
// into writing a filter for each image, and one fma for each expert and byte of it.
#pragma once

#include <bit>
#include <cstdint>

#include "weft/epilogues/numerics.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"

namespace weft::conv {

// The most experts of a conv::CondConv.
inline constexpr int kMostExperts = 32;

// Stands in the place of a policy for the back ends (gemm/launch/launch.hpp); compiled once for all
// operators.
struct MixFilters {};

// What a MixKernel is launched with; conv/condconv/mix_plan.hpp makes it. Blocks enumerate (group
// of images, block of vectors), vectors fastest; a vector is the part of a filter that one thread
// has.
struct MixParams {
  const std::int8_t* experts = nullptr;  // filters one after the other, as `mixed` has them
  std::int8_t* mixed = nullptr;
  const float* routing = nullptr;       // [images][count], a weight for each image and expert
  const float* expert_scale = nullptr;  // [count][k], or null for ones
  std::int64_t filter_bytes = 0;
  std::int32_t vectors = 0;  // vectors of a filter
  std::int32_t images = 0;
  std::int32_t group = 0;  // images that share a block
  std::int32_t count = 0;  // number of experts
  std::int32_t k = 0;      // output channels
  // Word i of a filter, 4 bytes, belongs to output channel i / channel_words % channels: the
  // formats have 4 input channels side by side. `channels` includes padding channels, which have no
  // scale.
  gemm::FastDivmod channel_words, channels;
  gemm::FastDivmod vector_blocks;
  // Whether the experts are loaded before earlier kernels of the stream have ended.
  bool early = false;
};

inline namespace WEFT_BACKEND {

// kExperts: the most experts that it mixes. kWords: 32-bit words of a vector.
template <int kExperts, int kWords>
struct MixKernel {
  using Params = MixParams;
  static constexpr int kMost = kExperts, kVectorBytes = 4 * kWords;
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;
  static constexpr int kMinBlocksPerSm = kExperts > 16 ? 2 : 4;
  // Images whose routing weights are in shared memory at the same time.
  static constexpr int kImages = 1024 / kExperts;

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
      if (base > first) t.SyncThreads();  // until all have read the weights before
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

  // Bytes from the beginning of a filter to a vector.
  WEFT_DEVICE static std::int64_t Offset(std::int32_t vector) {
    return std::int64_t{vector} * kBytes;
  }

  // Calls visit(e, address of its vector) for each expert e.
  template <class Visit>
  WEFT_DEVICE static void ForEachExpert(const Params& p, std::int32_t vector, const Visit& visit) {
    const std::int8_t* at = p.experts + Offset(vector);
    WEFT_UNROLL
    for (int e = 0; e < kExperts; ++e, at += p.filter_bytes) {
      if (e < p.count) visit(e, reinterpret_cast<const Vector*>(at));
    }
  }

  // value = expert_scale * float(expert), rounded once.
  WEFT_DEVICE static void Dequantize(arch::Thread t, const Params& p, std::int32_t vector,
                                     bool inside, const Vector (&experts)[kExperts],
                                     float (&value)[kExperts][kBytes]) {
    const bool scaled = inside && p.expert_scale != nullptr;
    float scale[kExperts];
    // The channel whose scales are in `scale`; mostly all words of a vector have the same.
    std::int32_t last = -1;
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

  // Byte b of a word, minus 128, as a float: the byte becomes the low bits of the float 2^23, from
  // which 2^23 + 128 is subtracted. Conversion instructions would take longer.
  WEFT_DEVICE static float Number(arch::Thread t, std::uint32_t biased, int b) {
    const std::uint32_t bits = t.BytePermute(biased, 0x4b000000u, 0x7440u | b);
    return epilogues::Add(std::bit_cast<float>(bits), -8388736.0f);
  }

  // One fma for each expert, in their order, then the sums are rounded to bytes. The places past
  // the last expert add 0 * 0, which changes no number.
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

// The four kernels have most experts x vector bytes 4 x 16, 8 x 8, 16 x 4 and 32 x 4: 64 floats of
// experts to a thread, and 128 in the last.
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
