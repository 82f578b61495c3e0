// A correct policy; the cases of this folder derive from it and get one thing wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/conv/convolution.hpp"

struct Base {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = weft::conv::kSimt64x64;
};

// What a program does with an operator, so that what it writes after the mistake is compiled as well.
template <class PolicyT>
bool Use() {
  const auto op = weft::conv::Convolution<PolicyT>::Create({.n = 1, .c = 16, .k = 32});
  std::vector<std::int8_t> src(op->src_size()), dst(op->dst_size()), values(16 * 32);
  const std::vector<float> bias(32);
  const auto filter = weft::PackFilter<weft::CxRSKx<4>>(op->problem().filter(), values);
  return op
      ->RunOnCpu({.src = src, .filter = filter->view(), .bias = bias, .dst = dst, .alpha = 0.1f})
      .ok();
}
