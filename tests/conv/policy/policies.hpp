// The operators that the convolution tests run.
#pragma once

#include "weft/conv/policy.hpp"

namespace weft::conv {

// Tile shapes as a type: nvcc 13.0 cannot write class-type template arguments into its host code.
template <int block_m, int block_n, int block_k, int warp_m, int warp_n, int thread_m, int thread_n,
          int dst_alignment = 4, int warp_k = block_k>
struct Tile {
  static constexpr auto config = SimtConfig({block_m, block_n, block_k}, {warp_m, warp_n, warp_k},
                                            {thread_m, thread_n, 4}, dst_alignment);
};
template <int dst_alignment>
using SmallTile = Tile<32, 32, 32, 32, 16, 4, 4, dst_alignment>;

// Every knob that the tests vary.
template <class Dst, class EpilogueT, class TileT = SmallTile<4>>
struct TestPolicy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr auto config = TileT::config;
};

}  // namespace weft::conv
