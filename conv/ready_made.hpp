// Policies for common operators, so that a program can start with one line:
//
//     using Op = weft::conv::Convolution<weft::conv::S8Conv4<weft::epilogues::BiasHSwish<>>>;
//
// The library weft::weft holds GPU code for the combinations listed in conv/operators.cmake; any
// other combination runs on the CPU as it is and on the GPU after weft_add_operators().
#pragma once

#include "weft/conv/policy.hpp"

namespace weft::conv {

// Tile shapes as types, for policies that are templates over them.
struct Tile128x128 {
  static constexpr Config config = kSimt128x128;
};
struct Tile128x64 {
  static constexpr Config config = kSimt128x64;
};
struct Tile128x32 {
  static constexpr Config config = kSimt128x32;
};
struct Tile64x64 {
  static constexpr Config config = kSimt64x64;
};
struct Tile32x32 {
  static constexpr Config config = kSimt32x32;
};
struct Tile32x32Deep {
  static constexpr Config config = kSimt32x32Deep;
};

// int8 convolution over NCxHWx<4> through dp4a, any GPU from sm_75. Dst is any layout that
// Epilogue's output type fits (NCxHWx<4>, NCxHWx<32>, NHWC with K a multiple of 4, NCHW in float).
template <class EpilogueT = epilogues::BiasRelu<>, class Dst = NCxHWx<4>, class TileT = Tile64x64>
struct S8Conv4 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr Config config = TileT::config;
};

}  // namespace weft::conv
