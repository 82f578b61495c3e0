// The operators of weft_demo, each for several tiles.
#pragma once

#include <cstdint>

#include "weft/conv/policy.hpp"

namespace weft_demo {

// int8 convolution, bias, ReLU.
template <weft::conv::Config kConfig>
struct ConvBiasRelu {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr weft::conv::Config config = kConfig;
};

// int8 convolution, bias, HSwish, and the change from channel blocks of 4 to blocks of 32, which
// would else be a pass over memory of its own.
template <weft::conv::Config kConfig>
struct ConvBiasHSwishReformat {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<32>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasHSwish<>;
  static constexpr weft::conv::Config config = kConfig;
};

}  // namespace weft_demo
