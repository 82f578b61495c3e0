// The operators of local_bench: LocalFilter over NCxHWx<32> through mma_sm80, N images a tile.
#pragma once

#include <cstdint>
#include <tuple>

#include "weft/conv/policy.hpp"

namespace weft::perf {

// Threadblock (m, n, k), warp (m, n), stages. m: N of the layers, so that weights are read once.
template <int m, int n, int k, int warp_m, int warp_n, int stages, class Filter = CxRSKx<32>>
struct LocalTile {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = Filter;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::LocalFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr auto config = conv::MmaSm80Config({m, n, k}, {warp_m, warp_n, k}, stages);
};

using Local16x64 = LocalTile<16, 64, 128, 16, 32, 4>;
using Local16x64Deep = LocalTile<16, 64, 256, 16, 32, 4>;
using Local16x128 = LocalTile<16, 128, 128, 16, 32, 4>;
using Local16x32 = LocalTile<16, 32, 256, 16, 32, 6>;
using Local64x64 = LocalTile<64, 64, 128, 32, 32, 4>;
using Local64x64Short = LocalTile<64, 64, 64, 32, 32, 6>;
using Local64x32 = LocalTile<64, 32, 128, 16, 32, 5>;
using LocalTiles = std::tuple<Local16x64, Local16x64Deep, Local16x128, Local16x32, Local64x64,
                              Local64x64Short, Local64x32>;

// Weights of int4.
using Int4 = PackedInt4<CxRSKx<32>>;
using Local16x64Int4 = LocalTile<16, 64, 128, 16, 32, 4, Int4>;
using Local16x64DeepInt4 = LocalTile<16, 64, 256, 16, 32, 4, Int4>;
using Local16x128Int4 = LocalTile<16, 128, 128, 16, 32, 4, Int4>;
using Local16x32Int4 = LocalTile<16, 32, 256, 16, 32, 8, Int4>;
using Local64x64Int4 = LocalTile<64, 64, 128, 32, 32, 4, Int4>;
using Local64x64ShortInt4 = LocalTile<64, 64, 64, 32, 32, 6, Int4>;
using Local64x32Int4 = LocalTile<64, 32, 128, 16, 32, 6, Int4>;
using LocalInt4Tiles =
    std::tuple<Local16x64Int4, Local16x64DeepInt4, Local16x128Int4, Local16x32Int4, Local64x64Int4,
               Local64x64ShortInt4, Local64x32Int4>;

}  // namespace weft::perf
