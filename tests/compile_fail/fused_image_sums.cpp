// Sums of a kernel that carries none.
// EXPECT: static assertion failed: weft: the epilogues of DepthwisePointwise have no ImageSums
#include "weft/conv/depthwise_pointwise.hpp"

struct Mine {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<32>;
  using DstLayout = weft::NCxHWx<32>;
  using DepthwiseEpilogue = weft::epilogues::BiasRelu<>;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ImageSums,
                                          weft::epilogues::ClampTo<std::int8_t>>;
  static constexpr auto config = weft::conv::kFused7x3x16;
};

auto op = weft::conv::DepthwisePointwise<Mine>::Create({}, 1);
