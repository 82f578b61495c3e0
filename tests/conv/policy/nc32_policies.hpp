// The tensor-core operators over NCxHWx<32> that the tests of mma_sm75 and mma_sm80 run.
#pragma once

#include "weft/conv/policy.hpp"

namespace weft::conv {

// Tile shapes as types: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int dst_alignment = 8>
struct MmaSm75Tile {
  static constexpr auto config =
      MmaSm75Config({block_m, block_n, block_k}, {warp_m, warp_n, block_k}, dst_alignment);
};
template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int stages,
          int dst_alignment = 8>
struct MmaSm80Tile {
  static constexpr auto config =
      MmaSm80Config({block_m, block_n, block_k}, {warp_m, warp_n, block_k}, stages, dst_alignment);
};
// Of whose k tiles warps share warp_k.
template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int warp_k, int stages,
          int dst_alignment = 8>
struct SlicedTile {
  static constexpr auto config =
      MmaSm80Config({block_m, block_n, block_k}, {warp_m, warp_n, warp_k}, stages, dst_alignment);
};

// The tile that an article on this operator shows. Its first extent is output channels and its
// second pixels; Weft's m is pixels: threadblock 32 x 64 x 64, warp 32 x 16 x 64, instruction
// 8 x 8 x 16, 2 stages, alignments 16 and 16.
using ArticleTile = MmaSm75Tile<64, 32, 64, 16, 32, 16>;

template <class Dst, class EpilogueT, class TileT>
struct Nc32Policy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = CxRSKx<32>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};

}  // namespace weft::conv
