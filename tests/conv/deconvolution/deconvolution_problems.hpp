// Problems of deconvolutions that tests run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/conv/harness.hpp"
#include "weft/conv/deconvolution/deconvolution_plan.hpp"

namespace weft::conv {

inline std::string Text(const DeconvolutionProblem& p) {
  return absl::StrCat("n", p.n, "h", p.h, "w", p.w, "c", p.c, "k", p.k, "r", p.r, "s", p.s, " pad ",
                      p.pad_top, ",", p.pad_left, ",", p.pad_bottom, ",", p.pad_right, " stride ",
                      p.stride_h, ",", p.stride_w, " dilation ", p.dilation_h, ",", p.dilation_w,
                      " output pad ", p.output_pad_h, ",", p.output_pad_w);
}

inline DeconvolutionProblem SquareDeconvolution(std::int64_t n, std::int64_t c, std::int64_t hw,
                                                std::int64_t k, std::int64_t rs, std::int64_t pad,
                                                std::int64_t stride, std::int64_t output_pad = 0) {
  DeconvolutionProblem p;
  p.n = n, p.c = c, p.h = p.w = hw, p.k = k, p.r = p.s = rs;
  p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = pad;
  p.stride_h = p.stride_w = stride;
  p.output_pad_h = p.output_pad_w = output_pad;
  return p;
}

// most: of strides, dilations.
inline DeconvolutionProblem RandomDeconvolution(std::mt19937& engine, std::int64_t most_stride,
                                                std::int64_t most_dilation) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return Pick(engine, low, high); };
  for (;;) {
    DeconvolutionProblem p;
    p.n = pick(1, 3), p.h = pick(1, 6), p.w = pick(1, 7), p.c = pick(1, 21), p.k = pick(1, 40);
    p.r = pick(1, 5), p.s = pick(1, 5);
    p.pad_top = pick(0, 3), p.pad_left = pick(0, 3);
    p.pad_bottom = pick(0, 3), p.pad_right = pick(0, 3);
    p.stride_h = pick(1, most_stride), p.stride_w = pick(1, most_stride);
    p.dilation_h = pick(1, most_dilation), p.dilation_w = pick(1, most_dilation);
    p.output_pad_h = pick(0, std::max(p.stride_h, p.dilation_h) - 1);
    p.output_pad_w = pick(0, std::max(p.stride_w, p.dilation_w) - 1);
    if (engine() % 4 == 0) p.c += 40;  // several k tiles
    if (CheckDeconvolution(p).ok()) return p;
  }
}

}  // namespace weft::conv
