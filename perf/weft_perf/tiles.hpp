// The operators that weft_perf chooses from: int8 convolution, scale per channel, float bias, ReLU,
// int8; one policy for each tile. perf/operators.cmake reads the lists from this file and from
// simt_tiles.hpp: what stands before the `#if` is always built, also with the other epilogues; the
// rest with the CMake option WEFT_PERF_ALL_TILES, which perf/carry.sh sets, with ReLU alone.
#pragma once

#include <tuple>

#include "perf/weft_perf/simt_tiles.hpp"
#include "weft/conv/policy.hpp"

namespace weft::perf {

// Tiles in elements: threadblock (m, n, k), warp (m, n), and the stages of the ring.
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kStages>
struct Nc32 {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::SharedFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr conv::Config config =
      conv::MmaSm80Config({kM, kN, kK}, {kWarpM, kWarpN, kK}, kStages);
};

// The same through mma_sm75, whose ring has two stages.
template <int kM, int kN, int kK, int kWarpM, int kWarpN>
struct Nc32Sm75 : Nc32<64, 64, 64, 32, 32, 4> {
  static constexpr conv::Config config = gemm::MmaSm75Config({kM, kN, kK}, {kWarpM, kWarpN, kK});
};

// The same for NHWC, with loads of kSrcBytes: C is a multiple of it.
template <int kSrcBytes, int kM, int kN, int kK, int kWarpM, int kWarpN, int kStages>
struct Nhwc {
  using Element = std::int8_t;
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
  using DstLayout = NHWC;
  using Prologue = prologues::SharedFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr conv::Config config = conv::WithSrcAlignment(
      conv::MmaSm80Config({kM, kN, kK}, {kWarpM, kWarpN, kK}, kStages), kSrcBytes);
};

// A tile's operator with another epilogue.
template <class Tile>
struct WithResidual : Tile {
  using Epilogue = epilogues::ResidualBiasRelu<>;
};
template <class Tile>
struct WithHSwish : Tile {
  using Epilogue = epilogues::BiasHSwish<>;
};

using FewTiles = std::tuple<Nc32<128, 64, 128, 32, 32, 3>,      //
                            Nc32<64, 64, 64, 32, 32, 4>,        //
                            Nc32<128, 32, 64, 32, 32, 4>,       //
                            Nhwc<16, 128, 64, 128, 32, 32, 3>,  //
                            Nhwc<16, 64, 64, 64, 32, 32, 4>,    //
                            Nhwc<4, 64, 64, 64, 32, 32, 4>>;

#if WEFT_PERF_ALL_TILES
using MoreTiles = std::tuple<Nc32<128, 128, 64, 64, 64, 4>,      //
                             Nc32<128, 128, 128, 64, 64, 3>,     //
                             Nc32<128, 128, 64, 64, 64, 3>,      //
                             Nc32<256, 128, 64, 64, 64, 4>,      //
                             Nc32<128, 64, 64, 64, 64, 4>,       //
                             Nc32<128, 256, 64, 64, 64, 3>,      //
                             Nc32<256, 64, 64, 64, 32, 3>,       //
                             Nc32<128, 64, 64, 64, 32, 4>,       //
                             Nc32<128, 128, 64, 64, 32, 3>,      //
                             Nc32<64, 128, 64, 32, 32, 4>,       //
                             Nc32<64, 64, 128, 32, 32, 4>,       //
                             Nc32<64, 32, 128, 32, 32, 5>,       //
                             Nc32<64, 32, 128, 32, 32, 4>,       //
                             Nc32<32, 32, 256, 16, 32, 4>,       //
                             Nc32<256, 32, 64, 64, 32, 3>,       //
                             Nc32Sm75<128, 64, 64, 64, 32>,      //
                             Nc32Sm75<64, 32, 64, 32, 32>,       //
                             Nhwc<16, 128, 128, 64, 64, 64, 4>,  //
                             Nhwc<16, 256, 128, 64, 64, 64, 3>,  //
                             Nhwc<16, 128, 64, 64, 64, 32, 4>,   //
                             Nhwc<16, 128, 128, 64, 64, 32, 3>,  //
                             Nhwc<16, 64, 64, 128, 32, 32, 4>,   //
                             Nhwc<16, 64, 32, 128, 32, 32, 5>,   //
                             Nhwc<16, 128, 32, 64, 32, 32, 4>>;
#else
using MoreTiles = std::tuple<>;
#endif

}  // namespace weft::perf
