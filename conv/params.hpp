// What a convolution kernel is launched with. Made on the host by conv/geometry.hpp; the same bytes
// for both back ends, so these types live outside the back ends' namespaces.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/policy.hpp"
#include "weft/gemm/fast_divmod.hpp"
#include "weft/gemm/output_params.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::conv {

// Source operand of the implicit GEMM, in packets. In NCxHWx<x> a packet is the x channels that one
// block holds of one pixel, and packet indices enumerate (c / x, r, s), s fastest. In NHWC it is
// the channels of one access (config.alignment.src), and indices enumerate (r, s, c / access), c
// fastest.
struct ActivationParams {
  const void* src = nullptr;
  std::int64_t image_packets = 0;    // packets of one image
  std::int32_t pixels = 0;           // N P Q
  std::int32_t packets = 0;          // ceil(C / x) R S
  std::int32_t channel_packets = 0;  // NHWC: packets of one pixel
  gemm::FastDivmod image_pixels;     // by P Q
  gemm::FastDivmod row_pixels;       // by Q
  gemm::FastDivmod taps;             // by R S
  gemm::FastDivmod tap_columns;      // by S
  gemm::FastDivmod pixel_packets;    // NHWC: by channel_packets
  std::int32_t h = 0, w = 0;         // input rows, columns
  std::int32_t r = 0, s = 0;         // filter rows, columns
  std::int32_t plane = 0;            // h * w
  std::int32_t stride_h = 0, stride_w = 0;
  // Input row of output row p and tap r: p * stride_h + base_h + r * step_h; base and step carry
  // the padding, the dilation and, for Mode::kConvolution, the flip.
  std::int32_t base_h = 0, base_w = 0;
  std::int32_t step_h = 0, step_w = 0;
  // NCxHWx, filters of at most kTableTaps taps: packets from a tap to the next one; after the last
  // one, to the first tap in the next channel block.
  static constexpr int kTableTaps = 32;
  std::int32_t next_tap[kTableTaps] = {};
};

// Filter operand: in CxRSKx<x> a row-major matrix of packets, `packets` rows by padded_k columns;
// in KRSC its transpose.
struct FilterParams {
  const void* filter = nullptr;
  std::int32_t packets = 0;
  std::int32_t padded_k = 0;
};

template <class P>
struct KernelParams {
  ActivationParams activation;
  FilterParams filter;
  gemm::OutputParams<P> output;
  gemm::FastDivmod tiles_n;  // blocks enumerate (tile_m, tile_n), tile_n fastest
  std::int32_t slices = 0;   // k slices
};

}  // namespace weft::conv
