// QuantizeImageKernel: images of at most 4 channels, as networks are given them, from planes of floats (NCHW) to pixels:
// NCxHWx<4>, or NHWC of 3 channels. PointwiseKernel, which makes a pixel a thread, takes any other.
#pragma once

#include <cstdint>

#include "weft/network/operators/pointwise_kernel.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

// A thread makes twice 4 adjacent pixels, which are 16 bytes of each plane. The pixels of an image are a multiple of 4, and
// addresses multiples of 16.
struct QuantizeImageKernel {
  using Params = PointwiseParams;
  struct SharedStorage {};

  static constexpr int kThreads = 256;
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr int kRows = 2;
  static constexpr Share kShare = {.rows = kRows, .columns = 4};
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const std::int32_t unit = t.block_x() * kThreads + t.tid();
    const Place at = p.units.At(unit < p.units.count ? unit : 0);
    FloatQuad x[kRows][4];
    bool has[kRows];
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i) {
      has[i] = unit < p.units.count && p.units.Has(at, i);
      const float* plane = AddressOf<const float>(p.src, at, 0) + i * p.units.Step(p.src);
      WEFT_UNROLL
      for (int c = 0; c < 4; ++c, plane += p.src.block_stride) {
        x[i][c] = t.LoadGlobalCoherentOr0(reinterpret_cast<const FloatQuad*>(plane),
                                          has[i] && c < p.channels.count);
      }
    }
    const std::uint32_t kept = 0xffffffffu >> 8 * (4 - p.channels.count);
    std::uint8_t* to = AddressOf<std::uint8_t>(p.dst, at, 0);
    WEFT_UNROLL
    for (int i = 0; i < kRows; ++i, to += p.units.Step(p.dst)) {
      if (!has[i]) continue;
      Bytes made{};
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        const float pixel[4] = {x[i][0].lane[j], x[i][1].lane[j], x[i][2].lane[j], x[i][3].lane[j]};
        made.quad[j] = Quantized<true>(p, t, pixel) & kept;
      }
      Store(p, t, reinterpret_cast<std::uint32_t*>(to), made);
    }
  }

 private:
  WEFT_DEVICE static void Store(const Params& p, arch::Thread t, std::uint32_t* to,
                                const Bytes& made) {
    if (p.dst.pixel == 4) return t.StoreGlobal(reinterpret_cast<Bytes*>(to), made);
    const std::uint32_t dense[] = {t.BytePermute(made.quad[0], made.quad[1], 0x4210u),
                                   t.BytePermute(made.quad[1], made.quad[2], 0x5421u),
                                   t.BytePermute(made.quad[2], made.quad[3], 0x6542u)};
    WEFT_UNROLL
    for (int i = 0; i < 3; ++i) t.StoreGlobal(to + i, dense[i]);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
