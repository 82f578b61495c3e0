// Tiles of the operators over NCxHWx<4>, for any GPU from sm_75: tiles.hpp says how the lists are
// read.
#pragma once

#include <tuple>

#include "weft/conv/policy.hpp"

namespace weft::perf {

// Source and destination in NCxHWx<4>. Tiles in elements: threadblock (m, n, k), warp (m, n, k),
// thread (m, n).
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

// The same with the destination in NCxHWx<32>: the first layer of a network whose others run on
// tensor cores.
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kWarpK, int kThreadM, int kThreadN>
struct Nc4To32 : Nc4<kM, kN, kK, kWarpM, kWarpN, kWarpK, kThreadM, kThreadN> {
  using DstLayout = NCxHWx<32>;
};

using FewSimtTiles = std::tuple<Nc4<128, 64, 32, 64, 32, 32, 8, 8>,  //
                                Nc4<64, 64, 32, 64, 32, 32, 8, 8>,   //
                                Nc4<32, 32, 256, 32, 16, 32, 4, 4>,  //
                                Nc4To32<128, 64, 32, 64, 32, 32, 8, 8>>;

#if WEFT_PERF_ALL_TILES
using MoreSimtTiles = std::tuple<Nc4<128, 128, 32, 64, 32, 32, 8, 8>,     //
                                 Nc4<128, 128, 16, 64, 32, 16, 8, 8>,     //
                                 Nc4<128, 64, 16, 64, 32, 16, 8, 8>,      //
                                 Nc4<256, 64, 16, 64, 32, 16, 8, 8>,      //
                                 Nc4<256, 32, 32, 64, 32, 32, 8, 8>,      //
                                 Nc4<128, 32, 32, 64, 32, 32, 8, 8>,      //
                                 Nc4<128, 32, 16, 64, 32, 16, 8, 8>,      //
                                 Nc4<64, 128, 32, 32, 64, 32, 8, 8>,      //
                                 Nc4<64, 64, 32, 32, 32, 32, 4, 8>,       //
                                 Nc4<128, 64, 64, 64, 32, 32, 8, 8>,      //
                                 Nc4<64, 64, 64, 64, 32, 32, 8, 8>,       //
                                 Nc4<64, 64, 128, 64, 32, 32, 8, 8>,      //
                                 Nc4<64, 32, 128, 64, 32, 32, 8, 8>,      //
                                 Nc4<32, 64, 128, 32, 64, 32, 8, 8>,      //
                                 Nc4<64, 32, 64, 32, 16, 64, 4, 4>,       //
                                 Nc4<32, 64, 32, 32, 16, 32, 4, 4>,       //
                                 Nc4<32, 32, 32, 32, 16, 32, 4, 4>,       //
                                 Nc4<32, 32, 128, 32, 16, 32, 4, 4>,      //
                                 Nc4<32, 32, 128, 16, 16, 128, 2, 4>,     //
                                 Nc4To32<128, 64, 16, 64, 32, 16, 8, 8>,  //
                                 Nc4To32<64, 64, 32, 64, 32, 32, 8, 8>,   //
                                 Nc4To32<64, 64, 32, 32, 32, 32, 4, 8>,   //
                                 Nc4To32<32, 64, 32, 32, 16, 32, 4, 4>>;
#else
using MoreSimtTiles = std::tuple<>;
#endif

}  // namespace weft::perf
