// What an epilogue loads of its channels: scale, bias, an activation's value, and what zero points
// need. It depends on the channel alone and is loaded once for all pixels of a tile: with a short k
// the epilogue takes as long as the mainloop.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/epilogue/epilogue_loads.hpp"
#include "weft/gemm/epilogue/epilogue_zero_points.hpp"
#include "weft/gemm/policy/output_params.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The template arguments are those of EpilogueMath.
template <class PolicyT, class Output, int kChannels>
struct EpilogueChannels : ZeroPointCorrections<PolicyT, Output, kChannels> {
  using ZeroPoints = ZeroPointCorrections<PolicyT, Output, kChannels>;
  using Epilogue = typename PolicyT::Epilogue;
  using BiasValue = typename Epilogue::BiasValue;
  using Value = typename Epilogue::Value;
  static constexpr bool kDependent = PolicyT::kDependentLaunch;

  struct Channels {
    std::int32_t k;          // the first channel
    std::int32_t count;      // channels from k to the end of the tile's; may be negative
    Value alpha[kChannels];  // 0 beyond the last channel
    BiasValue bias[kChannels];
    [[maybe_unused]] float value[Epilogue::kHasChannelValues ? kChannels : 1];
    [[maybe_unused]] typename ZeroPoints::Corrections corrections;
  };

  // Loads what belongs to channels k to k + kChannels - 1, with zeros from `end`, one past the
  // tile's last channel. values: Rows::ValueOffset, which leads from a channel to its bias and
  // scale.
  WEFT_DEVICE static void Load(arch::Thread t, const Output& p, std::int32_t k, std::int32_t end,
                               Channels& c, std::int32_t values = 0) {
    Fetch(t, p, k, end, c, values);
    Finish(p, c);
  }
  // Load in two steps: Fetch starts the loads, Finish is the first to need their results.
  WEFT_DEVICE static void Fetch(arch::Thread t, const Output& p, std::int32_t k, std::int32_t end,
                                Channels& c, std::int32_t values = 0) {
    c.k = k;
    c.count = end - k;
    const bool per_channel = HasChannelAlpha(p);
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      const bool inside = k + j < end;
      const Value* alpha_address = per_channel ? p.channel_alpha + (values + k) + j : nullptr;
      c.alpha[j] = LoadOr0<kDependent>(t, alpha_address, per_channel && inside);
      c.bias[j] = 0;
      if constexpr (Epilogue::kHasBias) {
        c.bias[j] =
            static_cast<BiasValue>(LoadOr0<kDependent>(t, p.bias + (values + k) + j, inside));
      }
      if constexpr (Epilogue::kHasChannelValues) {
        c.value[j] = LoadOr0<kDependent>(t, p.epilogue.ChannelValues() + (values + k) + j, inside);
      }
      const std::int32_t in_sum = Epilogue::kBiasInSum ? static_cast<std::int32_t>(c.bias[j]) : 0;
      ZeroPoints::FetchCorrections(t, p, k, inside, in_sum, c.corrections, j);
    }
  }
  WEFT_DEVICE static void Finish(const Output& p, Channels& c) {
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) c.alpha[j] = HasChannelAlpha(p) ? c.alpha[j] : p.alpha;
  }

  // Hands bias and value of channel j to the epilogue's stages. The bias of a SumBias stage is part
  // of the source's correction, if there is one.
  template <class In>
  WEFT_DEVICE static void GiveValues(const Channels& c, int j, In& in) {
    if constexpr (!Epilogue::kBiasInSum) {
      in.bias = c.bias[j];
    } else if constexpr (!Epilogue::kSourceZeroPoint) {
      in.sum_bias = c.bias[j];
    }
    if constexpr (Epilogue::kHasChannelValues) in.channel_value = c.value[j];
  }

 private:
  WEFT_DEVICE static bool HasChannelAlpha(const Output& p) {
    return Epilogue::kHasScale && p.channel_alpha != nullptr;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
