// The operators that the convolution tests run.
#pragma once

#include "weft/conv/policy.hpp"

namespace weft::conv {

// Every knob that the tests vary.
template <class Dst, class EpilogueT, gemm::TileShape block = gemm::TileShape{32, 32, 32},
          gemm::TileShape warp_tile = gemm::TileShape{32, 16, 32},
          gemm::TileShape thread_tile = gemm::TileShape{4, 4, 4}, int dst_alignment = 4>
struct TestPolicy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<4>;
  using FilterLayout = CxRSKx<4>;
  using DstLayout = Dst;
  using Prologue = prologues::SharedFilter;
  using Epilogue = EpilogueT;
  static constexpr Config config = SimtConfig(block, warp_tile, thread_tile, dst_alignment);
};

}  // namespace weft::conv
