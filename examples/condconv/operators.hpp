// A convolution with a filter for each image, which CondConv mixes from experts.
#pragma once

#include <cstdint>

#include "weft/conv/policy.hpp"

struct MixedConv {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCHW;
  using Prologue = weft::prologues::PerSample;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Bias<>,
                                          weft::epilogues::Relu, weft::epilogues::ToFloat>;
  static constexpr auto config = weft::conv::kSimt32x32;
};
