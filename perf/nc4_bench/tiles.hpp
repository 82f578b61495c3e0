// The family of operators that nc4_bench chooses from: convolution, scale per channel, float bias,
// ReLU, int8, all in NCxHWx<4>; one policy for each tile. perf/operators.cmake reads the list of
// tiles from this file.
#pragma once

#include <tuple>

#include "weft/conv/policy.hpp"

namespace weft::perf {

// Tiles in elements: threadblock (m, n, k), warp (m, n, k), thread (m, n).
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kWarpK, int kThreadM, int kThreadN>
struct Nc4 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = NCxHWx<4>;
  using Prologue = prologues::SharedFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr conv::Config config =
      conv::SimtConfig({kM, kN, kK}, {kWarpM, kWarpN, kWarpK}, {kThreadM, kThreadN, 4});
};

using Nc4Family = std::tuple<Nc4<128, 128, 32, 64, 32, 32, 8, 8>,  //
                             Nc4<128, 128, 16, 64, 32, 16, 8, 8>,  //
                             Nc4<128, 64, 32, 64, 32, 32, 8, 8>,   //
                             Nc4<128, 64, 16, 64, 32, 16, 8, 8>,   //
                             Nc4<256, 64, 16, 64, 32, 16, 8, 8>,   //
                             Nc4<256, 32, 32, 64, 32, 32, 8, 8>,   //
                             Nc4<128, 32, 32, 64, 32, 32, 8, 8>,   //
                             Nc4<128, 32, 16, 64, 32, 16, 8, 8>,   //
                             Nc4<64, 128, 32, 32, 64, 32, 8, 8>,   //
                             Nc4<64, 64, 32, 64, 32, 32, 8, 8>,    //
                             Nc4<64, 64, 32, 32, 32, 32, 4, 8>,    //
                             Nc4<128, 64, 64, 64, 32, 32, 8, 8>,   //
                             Nc4<64, 64, 64, 64, 32, 32, 8, 8>,    //
                             Nc4<64, 64, 128, 64, 32, 32, 8, 8>,   //
                             Nc4<64, 32, 128, 64, 32, 32, 8, 8>,   //
                             Nc4<32, 64, 128, 32, 64, 32, 8, 8>,   //
                             Nc4<64, 32, 64, 32, 16, 64, 4, 4>,    //
                             Nc4<32, 64, 32, 32, 16, 32, 4, 4>,    //
                             Nc4<32, 32, 32, 32, 16, 32, 4, 4>,    //
                             Nc4<32, 32, 128, 32, 16, 32, 4, 4>,   //
                             Nc4<32, 32, 128, 16, 16, 128, 2, 4>,  //
                             Nc4<32, 32, 256, 32, 16, 32, 4, 4>>;

}  // namespace weft::perf
