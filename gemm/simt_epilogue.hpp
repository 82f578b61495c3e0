// From the accumulators of the simt mainloop to the destination: the epilogue of one thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/simt_geometry.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// kBytes bytes written as one access.
template <int kBytes>
struct alignas(kBytes) StoreVector {
  unsigned char byte[kBytes];
};

// Policy: DstLayout, Epilogue, config. Output: OutputParams<Policy>.
template <class Policy, class Geometry, class Output>
class SimtEpilogue {
  using G = Geometry;
  using Dst = typename Policy::DstLayout;
  using Epilogue = typename Policy::Epilogue;
  using Element = typename Epilogue::Output;
  static constexpr int kChannels = G::kThreadN;
  static constexpr int kRun = Policy::config.alignment.dst / static_cast<int>(sizeof(Element));

 public:
  // Writes the thread's kThreadM x kThreadN results; pixels past the output are skipped, the zero
  // channels that fill the destination's last block are written as zeros.
  WEFT_DEVICE static void Run(arch::Thread t, const Output& p, int tile_m, int tile_n,
                              const std::int32_t (&acc)[G::kThreadM][G::kThreadN]) {
    const int warp_m = G::WarpM(t.warp()), warp_n = G::WarpN(t.warp());
    const int lane_m = t.lane() % G::kLanesM, lane_n = t.lane() / G::kLanesM;
    const std::int32_t m0 = tile_m * G::kBlockM + warp_m * G::kWarpM + lane_m;
    const std::int32_t k0 = tile_n * G::kBlockN + warp_n * G::kWarpN + lane_n * kChannels;
    if (k0 >= p.padded_k) return;

    ChannelValues channel;
    LoadChannels(t, p, k0, channel);

    WEFT_UNROLL
    for (int i = 0; i < G::kThreadM; ++i) {
      const std::int32_t m = m0 + G::kLanesM * i;
      if (m >= p.pixels) break;
      std::int32_t pq = 0;
      const std::int32_t n = p.image_pixels.Divmod(m, pq);
      epilogues::OutputCoord at{n, k0, 0, 0};
      if constexpr (Epilogue::kNeedsCoordinate) at.p = p.row_pixels.Divmod(pq, at.q);

      ResidualValues residual;
      if constexpr (Epilogue::kHasResidual) LoadResidual(t, p, n, pq, k0, residual);

      Element values[kChannels];
      WEFT_UNROLL
      for (int j = 0; j < kChannels; ++j) {
        epilogues::StageInputs in;
        in.accumulator = acc[i][j];
        in.alpha = channel.alpha[j];
        in.bias = channel.bias[j];
        in.beta = p.beta;
        in.gamma = p.gamma;
        in.zero_point = p.zero_point;
        if constexpr (Epilogue::kHasResidual) in.residual = residual.value[j];
        at.k = k0 + j;
        values[j] = k0 + j < p.k ? p.epilogue(in, at) : Element{0};
      }
      Store(t, p, n, pq, k0, values);
    }
  }

 private:
  struct ChannelValues {
    float alpha[kChannels];
    float bias[kChannels];
  };
  struct ResidualValues {
    float value[kChannels];
  };

  WEFT_DEVICE static void LoadChannels(arch::Thread t, const Output& p, std::int32_t k0,
                                       ChannelValues& v) {
    WEFT_UNROLL
    for (int j = 0; j < kChannels; ++j) {
      const bool inside = k0 + j < p.k;
      v.alpha[j] = p.alpha;
      if constexpr (Epilogue::kHasScale) {
        if (p.channel_alpha != nullptr)
          v.alpha[j] = t.LoadGlobalOr0(p.channel_alpha + k0 + j, inside);
      }
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
        p.residual + n * Layout::ImageStride(p.extents) + pq * Layout::PixelStride(p.extents);
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

  WEFT_DEVICE static void Store(arch::Thread t, const Output& p, std::int32_t n, std::int32_t pq,
                                std::int32_t k0, const Element (&values)[kChannels]) {
    Element* base = p.dst + n * Dst::ImageStride(p.extents) + pq * Dst::PixelStride(p.extents);
    WEFT_UNROLL
    for (int j = 0; j < kChannels; j += kRun) {
      if (k0 + j >= p.padded_k) break;
      using Vector = StoreVector<kRun* static_cast<int>(sizeof(Element))>;
      Vector v;
      memcpy(&v, &values[j], sizeof(v));
      t.StoreGlobal(reinterpret_cast<Vector*>(base + Dst::ChannelOffset(p.extents, k0 + j)), v);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
