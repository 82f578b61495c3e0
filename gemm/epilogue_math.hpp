// The first half of an epilogue: from a thread's sums to the bytes of its outputs.
//
// It works on groups of kChannels adjacent output channels of one pixel, any number from 1; which
// of them a thread holds is the accumulator map's business (accumulators.hpp), where the bytes go
// the store's (epilogue_store.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/output_params.hpp"
#include "weft/gemm/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// Of tensor formats the stride is at most the number of channels: one multiplication.
template <class Layout>
WEFT_DEVICE std::int64_t PixelOffset(const TensorExtents& e, std::int32_t pq) {
  if constexpr (TensorFormat<Layout>) {
    return static_cast<std::int64_t>(pq) * static_cast<std::int32_t>(Layout::PixelStride(e));
  } else {
    return pq * Layout::PixelStride(e);
  }
}

// P: DstLayout, Epilogue. Output: an OutputParams.
template <class P, class Output, int kChannels>
struct EpilogueMath {
  using Dst = typename P::DstLayout;
  using Epilogue = typename P::Epilogue;
  using Element = typename Epilogue::Output;
  using BiasValue = typename Epilogue::BiasValue;
  // In a dependent launch earlier kernels may have written what is read here.
  static constexpr bool kDependent =
      std::remove_cvref_t<decltype(P::config)>::kMainloop == Mainloop::kWgmmaSm90;
  static constexpr bool kPacked = Epilogue::OutputStage::kSaturates && kChannels % 4 == 0;

  // What depends on the channel alone, worked out once for all pixels: short sums spend as long
  // here as in the mainloop.
  struct Channels {
    std::int32_t k;          // the first
    std::int32_t count;      // how many of them are the tile's; may be negative
    float alpha[kChannels];  // 0 beyond the last
    BiasValue bias[kChannels];
    [[maybe_unused]] float value[Epilogue::kHasChannelValues ? kChannels : 1];
  };

  // end: the tile's channels end there.
  WEFT_DEVICE static void Load(arch::Thread t, const Output& p, std::int32_t k, std::int32_t end,
                               Channels& c) {
    Fetch(t, p, k, end, c);
    Finish(p, c);
  }
  // In two steps: what takes time, and what needs its outcome.
  WEFT_DEVICE static void Fetch(arch::Thread t, const Output& p, std::int32_t k, std::int32_t end,
                                Channels& c) {
    c.k = k;
    c.count = end - k;
    const bool per_channel = HasChannelAlpha(p);
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      const bool inside = k + j < end;
      const float* alpha_address = per_channel ? p.channel_alpha + k + j : nullptr;
      c.alpha[j] = LoadOr0(t, alpha_address, per_channel && inside);
      c.bias[j] = 0;
      if constexpr (Epilogue::kHasBias) {
        c.bias[j] = static_cast<BiasValue>(LoadOr0(t, p.bias + k + j, inside));
      }
      if constexpr (Epilogue::kHasChannelValues) {
        c.value[j] = LoadOr0(t, p.epilogue.ChannelValues() + k + j, inside);
      }
    }
  }

  WEFT_DEVICE static void Finish(const Output& p, Channels& c) {
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) c.alpha[j] = HasChannelAlpha(p) ? c.alpha[j] : p.alpha;
  }

  // The outputs of one pixel; at: its coordinates, if Epilogue::kNeedsCoordinate. sum(j): the sum
  // of channel k + j. Outside (!wanted) nothing is read, and the outputs mean nothing.
  //
  // Also beyond the last channel, whose scale and bias are 0: a condition here would become a
  // branch around every value.
  template <class Sums>
  WEFT_DEVICE static void Convert(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                  epilogues::OutputCoord at, bool wanted, const Channels& c,
                                  const Sums& sum, Element (&outputs)[kChannels]) {
    Residuals residual;
    if constexpr (Epilogue::kHasResidual) {
      LoadResidual(t, p, pixel, wanted ? c.count : 0, c.k, residual);
    }
    Seen<kChannels> seen;
    if constexpr (kPacked) {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        float values[4];
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          at.k = c.k + j + e;
          const auto in = Inputs(p, c, residual, j + e, sum(j + e));
          values[e] = p.epilogue.Unrounded(in, at);
          See(p, in, at, j + e, seen);
        }
        const std::uint32_t word = t.template PackSaturated<Element>(values);
        memcpy(outputs + j, &word, sizeof(word));
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        at.k = c.k + j;
        const auto in = Inputs(p, c, residual, j, sum(j));
        outputs[j] = p.epilogue(in, at);
        See(p, in, at, j, seen);
      }
    }
    WriteSeen(t, p, pixel, wanted, c, seen);
  }

  // Of a pixel: what the stages that write beside the output have seen.
  template <int kCount>
  struct Seen {
    [[maybe_unused]] float copy[Epilogue::kHasCopy ? kCount : 1];
    [[maybe_unused]] float range[Epilogue::kHasRange ? kCount : 1];
  };
  static constexpr bool kWritesBeside = Epilogue::kHasCopy || Epilogue::kHasRange;

  // Of channel j.
  template <class In>
  WEFT_DEVICE static void See(const Output& p, const In& in, const epilogues::OutputCoord& at,
                              int j, Seen<kChannels>& seen) {
    if constexpr (Epilogue::kHasCopy) {
      seen.copy[j] = p.epilogue.template ValueAt<typename Epilogue::CopyStage>(in, at);
    }
    if constexpr (Epilogue::kHasRange) {
      seen.range[j] = p.epilogue.template ValueAt<typename Epilogue::RangeStage>(in, at);
    }
  }
  // wanted: the pixel is one, and some channels may be.
  WEFT_DEVICE static void WriteSeen(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                    bool wanted, const Channels& c, const Seen<kChannels>& seen) {
    if constexpr (Epilogue::kHasCopy) StoreCopies(t, p, pixel, wanted, c, seen.copy);
    if constexpr (Epilogue::kHasRange) {
      const auto& range = p.epilogue.template Get<typename Epilogue::RangeStage>();
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        if (wanted && j < c.count) {
          t.LowerGlobal(range.low + c.k + j, seen.range[j]);
          t.RaiseGlobal(range.high + c.k + j, seen.range[j]);
        }
      }
    }
  }

  // The copies of one pixel: as many channels at once as the output's stores, whose alignment they
  // share, where they lie side by side as its do.
  WEFT_DEVICE static void StoreCopies(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                      bool wanted, const Channels& c,
                                      const float (&values)[kChannels]) {
    using Copy = typename Epilogue::CopyStage;
    using Layout = typename Epilogue::template CopyLayout<Dst>;
    using T = typename Copy::Element;
    constexpr int kRun = [] {
      if (!std::is_same_v<Layout, Dst>) return 1;
      int run = P::config.alignment.dst / static_cast<int>(sizeof(Element));
      while (run > kChannels || run * sizeof(T) > 16) run /= 2;
      return run;
    }();
    struct alignas(kRun * sizeof(T)) Vector {
      T value[kRun];
    };
    const std::int32_t end = c.k + c.count;
    const std::int32_t padded_end = std::is_same_v<Layout, Dst> && end == p.k ? p.padded_k : end;
    T* const to = p.epilogue.template Get<Copy>().to + pixel.n * Layout::ImageStride(p.extents) +
                  PixelOffset<Layout>(p.extents, pixel.pq);
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += kRun) {
      Vector v;
      WEFT_UNROLL
      for (int e = 0; e < kRun; ++e) {
        v.value[e] = Copy::Convert(j + e < c.count ? values[j + e] : 0.0f);
      }
      if (wanted && c.k + j < padded_end) {
        t.StoreGlobal(reinterpret_cast<Vector*>(to + Layout::ChannelOffset(p.extents, c.k + j)), v);
      }
    }
  }

  // For kChannels = 1, one value at a time: the residual, and what the epilogue is given.
  WEFT_DEVICE static float Residual(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                    bool wanted, const Channels& c) {
    Residuals residual;
    LoadResidual(t, p, pixel, wanted ? c.count : 0, c.k, residual);
    return residual.value[0];
  }
  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> InputsOf(const Output& p, const Channels& c,
                                                            float residual, Sum sum) {
    return Inputs(p, c, {{residual}}, 0, sum);
  }

 private:
  WEFT_DEVICE static bool HasChannelAlpha(const Output& p) {
    return Epilogue::kHasScale && p.channel_alpha != nullptr;
  }
  struct Residuals {
    float value[kChannels];
  };

  template <class Sum>
  WEFT_DEVICE static epilogues::StageInputsOf<Sum> Inputs(const Output& p, const Channels& c,
                                                          const Residuals& residual, int j,
                                                          Sum accumulator) {
    epilogues::StageInputsOf<Sum> in;
    in.accumulator = accumulator;
    in.alpha = c.alpha[j];
    if constexpr (Epilogue::kBiasInSum) {
      in.sum_bias = c.bias[j];
    } else {
      in.bias = c.bias[j];
    }
    in.beta = p.beta;
    in.gamma = p.gamma;
    in.zero_point = p.zero_point;
    if constexpr (Epilogue::kHasChannelValues) in.channel_value = c.value[j];
    if constexpr (Epilogue::kHasResidual) in.residual = residual.value[j];
    return in;
  }

  template <class T>
  WEFT_DEVICE static T LoadOr0(arch::Thread t, const T* address, bool inside) {
    if constexpr (kDependent) {
      return inside ? t.LoadGlobalCoherent(address) : T();
    } else {
      return t.LoadGlobalOr0(address, inside);
    }
  }

  // count: how many of the channels there are.
  WEFT_DEVICE static void LoadResidual(arch::Thread t, const Output& p, const OutputPixel& pixel,
                                       std::int32_t count, std::int32_t k, Residuals& v) {
    using Stage = typename Epilogue::ResidualStage;
    using Layout = std::conditional_t<std::is_same_v<typename Stage::Layout, epilogues::SameAsDst>,
                                      Dst, typename Stage::Layout>;
    using Source = typename Stage::Element;
    const Source* base = p.residual + pixel.n * Layout::ImageStride(p.extents) +
                         PixelOffset<Layout>(p.extents, pixel.pq);
    if constexpr (Layout::kChannelRun >= 4 && sizeof(Source) == 1 && kChannels % 4 == 0) {
      // Blocks of 4 channels and more are whole words, their zero channels included.
      WEFT_UNROLL
      for (int j = 0; j < kChannels; j += 4) {
        const std::uint32_t word = LoadOr0(
            t,
            reinterpret_cast<const std::uint32_t*>(base + Layout::ChannelOffset(p.extents, k + j)),
            j < count);
        WEFT_UNROLL
        for (int e = 0; e < 4; ++e) {
          v.value[j + e] = static_cast<float>(static_cast<Source>(word >> (8 * e)));
        }
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        const Source value = LoadOr0(t, base + Layout::ChannelOffset(p.extents, k + j), j < count);
        if constexpr (std::is_class_v<Source>) {  // of 16 bits
          v.value[j] = value.ToFloat();
        } else {
          v.value[j] = static_cast<float>(value);
        }
      }
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
