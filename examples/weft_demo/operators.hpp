// The operators of weft_demo, each for several tiles.
#pragma once

#include <cstdint>

#include "weft/conv/ready_made.hpp"

namespace weft_demo {

// int8 convolution, bias, ReLU.
template <class Tile>
struct ConvBiasRelu {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<4>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = Tile::config;
};

// int8 convolution, bias, HSwish, and the change from channel blocks of 4 to blocks of 32, which
// would else be a pass over memory of its own.
template <class Tile>
struct ConvBiasHSwishReformat {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<32>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasHSwish<>;
  static constexpr auto config = Tile::config;
};

// Both through the tensor cores, in channel blocks of 32.
template <class EpilogueT, class Tile>
struct TensorCoreConv {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr auto config = Tile::config;
};
template <class Tile>
using Conv32BiasRelu = TensorCoreConv<weft::epilogues::BiasRelu<>, Tile>;
template <class Tile>
using Conv32BiasHSwish = TensorCoreConv<weft::epilogues::BiasHSwish<>, Tile>;

// What conv::Dispatch chooses from. examples/operators.cmake says how many tiles there are.
template <template <class> class Operator>
using SimtFamily =
    weft::conv::Family<Operator<weft::conv::Tile64x64>, Operator<weft::conv::Tile128x128>,
                       Operator<weft::conv::Tile128x32>, Operator<weft::conv::Tile32x32>,
                       Operator<weft::conv::Tile32x32Wide>, Operator<weft::conv::Tile32x32Deepest>>;
template <template <class> class Operator>
using TensorCoreFamily =
    weft::conv::Family<Operator<weft::conv::Mma128x64>, Operator<weft::conv::Mma128x128>,
                       Operator<weft::conv::Mma128x32>, Operator<weft::conv::Mma64x64>,
                       Operator<weft::conv::Mma32x32Deep>>;

using ConvBiasReluFamily = SimtFamily<ConvBiasRelu>;
using ConvBiasHSwishReformatFamily = SimtFamily<ConvBiasHSwishReformat>;
using Conv32BiasReluFamily = TensorCoreFamily<Conv32BiasRelu>;
using Conv32BiasHSwishFamily = TensorCoreFamily<Conv32BiasHSwish>;

}  // namespace weft_demo
