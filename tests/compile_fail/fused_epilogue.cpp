// A residual for what never reaches memory.
// EXPECT: static assertion failed: weft: the output of the depthwise convolution never reaches memory
#include "weft/conv/depthwise_pointwise.hpp"

struct Mine {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<32>;
  using DstLayout = weft::NCxHWx<32>;
  using DepthwiseEpilogue = weft::epilogues::ResidualBiasRelu<>;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = weft::conv::kFused7x3x16;
};

auto op = weft::conv::DepthwisePointwise<Mine>::Create({}, 1);
