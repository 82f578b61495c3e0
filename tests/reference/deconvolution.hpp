// The plain transposed convolution: every output looks for the pixels and taps that are spread to
// it. It shares no code with conv/ but the problem's extents; the outputs' contract is reference.hpp's.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/reference/reference.hpp"
#include "weft/conv/problem/deconvolution_problem.hpp"

namespace weft::reference {

// The exact sum of products behind output (n, k, p, q), each value less its zero point. src is NCHW,
// filter [C][K][R][S].
template <class Source>
constexpr std::int64_t AccumulateSpread(const conv::DeconvolutionProblem& problem,
                                        const Source* src, const std::int8_t* filter,
                                        std::int64_t n, std::int64_t k, std::int64_t p,
                                        std::int64_t q, std::int64_t source_zero = 0,
                                        std::int64_t filter_zero = 0) {
  std::int64_t sum = 0;
  for (std::int64_t c = 0; c < problem.c; ++c) {
    for (std::int64_t r = 0; r < problem.r; ++r) {
      const std::int64_t down = p + problem.pad_top - r * problem.dilation_h;  // h * stride_h
      if (down % problem.stride_h != 0) continue;
      const std::int64_t h = down / problem.stride_h;
      if (h < 0 || h >= problem.h) continue;
      for (std::int64_t s = 0; s < problem.s; ++s) {
        const std::int64_t right = q + problem.pad_left - s * problem.dilation_w;
        if (right % problem.stride_w != 0) continue;
        const std::int64_t w = right / problem.stride_w;
        if (w < 0 || w >= problem.w) continue;
        const std::int64_t x = src[((n * problem.c + c) * problem.h + h) * problem.w + w];
        const std::int64_t f = filter[((c * problem.k + k) * problem.r + r) * problem.s + s];
        sum += (x - source_zero) * (f - filter_zero);
      }
    }
  }
  return sum;
}

// The whole of it, NCHW.
template <class T, class Source, class Activation>
std::vector<T> Deconvolve(const conv::DeconvolutionProblem& problem, const Source* src,
                          const std::int8_t* filter, const EpilogueData& e,
                          const Activation& activation, OutputRange<T> range) {
  std::vector<T> dst;
  for (std::int64_t n = 0; n < problem.n; ++n) {
    for (std::int64_t k = 0; k < problem.k; ++k) {
      for (std::int64_t p = 0; p < problem.p(); ++p) {
        for (std::int64_t q = 0; q < problem.q(); ++q) {
          const std::int64_t sum = AccumulateSpread(problem, src, filter, n, k, p, q);
          const auto index = static_cast<std::int64_t>(dst.size());
          dst.push_back(Converted<T>(sum, k, index, e, activation, range));
        }
      }
    }
  }
  return dst;
}

}  // namespace weft::reference
