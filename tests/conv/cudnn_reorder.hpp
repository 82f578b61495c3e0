// The order in which cuDNN wants an INT8x32 filter and its bias for CUDNN_NO_REORDER: what
// cudnnReorderFilterAndBias makes. cuDNN's documentation does not give it; tests/conv/cudnn_test.cu
// compares it with that call's answer.
//
// A CxRSKx<32> tensor without its K padding, (C/32, R, S, K, 32), in which the 256 bytes of 8
// output channels are permuted: with k % 8 = 2 a + b and c % 32 = 4 d + e they are ordered
// (b, d, a, e), so that a thread of m8n8k16 finds its operands side by side. Bias: within 32
// channels, k % 32 = 8 p + 4 q + r is ordered (q, p, r).
#pragma once

#include <cstdint>
#include <vector>

#include "weft/layouts/formats.hpp"

namespace weft::conv {

// K and C are multiples of 32.
constexpr std::int64_t CudnnFilterOffset(const FilterExtents& e, std::int64_t k, std::int64_t c,
                                         std::int64_t r, std::int64_t s) {
  const std::int64_t a = k % 8 / 2, b = k % 2, d = c % 32 / 4, element = c % 4;
  const std::int64_t tap = (c / 32 * e.r + r) * e.s + s;
  return (tap * e.k + k / 8 * 8) * 32 + ((b * 8 + d) * 4 + a) * 4 + element;
}

constexpr std::int64_t CudnnBiasOffset(std::int64_t k) {
  return k / 32 * 32 + (k % 8 / 4 * 4 + k % 32 / 8) * 4 + k % 4;
}

// `kcrs` is planar.
inline std::vector<std::int8_t> CudnnFilter(const FilterExtents& e,
                                            const std::vector<std::int8_t>& kcrs) {
  std::vector<std::int8_t> filter(kcrs.size());
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < e.k; ++k) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t r = 0; r < e.r; ++r) {
        for (std::int64_t s = 0; s < e.s; ++s) filter[CudnnFilterOffset(e, k, c, r, s)] = kcrs[i++];
      }
    }
  }
  return filter;
}

inline std::vector<float> CudnnBias(const std::vector<float>& bias) {
  std::vector<float> ordered(bias.size());
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(bias.size()); ++k) {
    ordered[CudnnBiasOffset(k)] = bias[k];
  }
  return ordered;
}

}  // namespace weft::conv
