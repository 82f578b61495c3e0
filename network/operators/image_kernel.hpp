// QuantizeImageKernel: images of at most 4 channels, as networks are given them, from planes of floats (NCHW) to
// NCxHWx<4>. PointwiseKernel, which makes a pixel a thread, takes any other.
#pragma once

#include <cstdint>

#include "weft/network/operators/tensor_access.hpp"
#include "weft/network/operators/tensor_params.hpp"

namespace weft::network {
inline namespace WEFT_BACKEND {

// A thread makes twice 4 adjacent pixels, which are 16 bytes of each plane and 16 bytes of the output. The pixels of an image
// are a multiple of 4, and addresses multiples of 16.
struct QuantizeImageKernel {
  using Params = PointwiseParams;
  struct SharedStorage {};

  static constexpr int kThreads = 256;
  static constexpr int kMinBlocksPerSm = 4;
  static constexpr int kTimes = 2;
  static constexpr std::int32_t kBlockUnits = kThreads * 4 * kTimes;  // pixels that a block makes
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const auto* const planes = static_cast<const float*>(p.src.address);
    FloatQuad x[kTimes][4] = {};
    std::int32_t image[kTimes] = {}, pixel[kTimes] = {};
    bool exists[kTimes] = {};
    WEFT_UNROLL
    for (int i = 0; i < kTimes; ++i) {
      const std::int32_t first = ((t.block_x() * kTimes + i) * kThreads + t.tid()) * 4;
      exists[i] = first < p.units.count;
      if (!exists[i]) continue;
      image[i] = p.units.pixels.Divmod(first, pixel[i]);
      WEFT_UNROLL
      for (int c = 0; c < 4; ++c) {
        if (c >= p.channels.count) continue;
        x[i][c] = t.LoadGlobalCoherent(
            reinterpret_cast<const FloatQuad*>(planes + p.src.Offset(image[i], c, pixel[i])));
      }
    }
    const std::uint32_t kept = 0xffffffffu >> 8 * (4 - p.channels.count);
    WEFT_UNROLL
    for (int i = 0; i < kTimes; ++i) {
      if (!exists[i]) continue;
      Bytes made{};
      WEFT_UNROLL
      for (int j = 0; j < 4; ++j) {
        float steps[4];
        WEFT_UNROLL
        for (int c = 0; c < 4; ++c) steps[c] = x[i][c].lane[j] / p.ratio;
        made.quad[j] = BytesOf(t, steps, p.to_dst) & kept;
      }
      auto* const memory = static_cast<std::uint8_t*>(p.dst.address);
      t.StoreGlobal(reinterpret_cast<Bytes*>(memory + p.dst.Offset(image[i], 0, pixel[i])), made);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::network
