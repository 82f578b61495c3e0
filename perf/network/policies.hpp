// The operators that our chain chooses from, as families of tiles. perf/network/operators.cmake
// reads the tiles from this file: those before the line "more" are always built, the rest with the
// CMake option WEFT_PERF_ALL_TILES. A tile without GPU code is passed over.
#pragma once

#include "weft/conv/ready_made.hpp"

namespace weft::perf {

// Threadblock (m, n, k), warp (m, n) and stages of a tensor-core tile.
template <int kM, int kN, int kK, int kWarpM, int kWarpN, int kStages>
struct MmaTile {
  static constexpr conv::Config config =
      conv::MmaSm80Config({kM, kN, kK}, {kWarpM, kWarpN, kK}, kStages);
};

// NCxHWx<32> to NCxHWx<32>.
template <class Epilogue, class TileT>
using NetworkConv = conv::S8Conv32<Epilogue, NCxHWx<32>, TileT>;

template <class Epilogue>
using NetworkFamily = conv::Family<NetworkConv<Epilogue, MmaTile<128, 128, 64, 64, 32, 3>>,
                                   NetworkConv<Epilogue, MmaTile<64, 64, 64, 32, 32, 4>>,
                                   // more
                                   NetworkConv<Epilogue, MmaTile<128, 64, 64, 64, 32, 4>>,
                                   NetworkConv<Epilogue, MmaTile<128, 128, 64, 64, 64, 4>>,
                                   NetworkConv<Epilogue, MmaTile<256, 128, 64, 64, 64, 3>>,
                                   NetworkConv<Epilogue, MmaTile<128, 256, 64, 64, 64, 3>>,
                                   NetworkConv<Epilogue, MmaTile<256, 64, 64, 64, 32, 3>>,
                                   NetworkConv<Epilogue, MmaTile<128, 64, 128, 32, 32, 3>>,
                                   NetworkConv<Epilogue, MmaTile<64, 64, 128, 32, 32, 4>>,
                                   NetworkConv<Epilogue, MmaTile<64, 32, 128, 32, 32, 5>>,
                                   NetworkConv<Epilogue, MmaTile<32, 32, 256, 16, 32, 4>>>;

// The first layer: 4 channels of a pixel side by side, to NCxHWx<32> in the same kernel. With
// exactly 4 channels NCxHWx<4> and NHWC are the same bytes, so both mainloops can read them.
template <class TileT>
using FirstDp4a = conv::S8Conv4<epilogues::BiasRelu<>, NCxHWx<32>, TileT>;
using FirstDp4aFamily = conv::Family<FirstDp4a<conv::Tile128x64>, FirstDp4a<conv::Tile64x64>,
                                     FirstDp4a<conv::Tile64x32>>;

template <class TileT>
struct FirstMma {
  using Element = std::int8_t;
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::SharedFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr conv::Config config = conv::WithSrcAlignment(TileT::config, 4);
};
using FirstMmaFamily = conv::Family<FirstMma<MmaTile<64, 64, 64, 32, 32, 4>>,
                                    FirstMma<MmaTile<128, 64, 64, 32, 32, 4>>>;

}  // namespace weft::perf
