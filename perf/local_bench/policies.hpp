// The operators of local_bench: LocalFilter over NCxHWx<32> through mma_sm80, N images a tile.
#pragma once

#include <cstdint>

#include "perf/bench/tiles.hpp"
#include "weft/conv/policy.hpp"

namespace weft::perf::local {

// Threadblock (m, n, k), warp (m, n), stages. m: N of the layers, so that weights are read once.
template <class Filter, int m, int n, int k, int warp_m, int warp_n, int stages>
struct Policy {
  using Element = std::int8_t;
  using SrcLayout = NCxHWx<32>;
  using FilterLayout = Filter;
  using DstLayout = NCxHWx<32>;
  using Prologue = prologues::LocalFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr auto config = conv::MmaSm80Config({m, n, k}, {warp_m, warp_n, k}, stages);
};

using Int8 = CxRSKx<32>;
using Int8Tiles =
    gemm::Family<Policy<Int8, 16, 64, 128, 16, 32, 4>, Policy<Int8, 16, 64, 256, 16, 32, 4>,
                 Policy<Int8, 16, 128, 128, 16, 32, 4>, Policy<Int8, 16, 32, 256, 16, 32, 6>,
                 Policy<Int8, 64, 64, 128, 32, 32, 4>, Policy<Int8, 64, 64, 64, 32, 32, 6>,
                 Policy<Int8, 64, 32, 128, 16, 32, 5>>;
using Int4 = PackedInt4<CxRSKx<32>>;
using Int4Tiles =
    gemm::Family<Policy<Int4, 16, 64, 128, 16, 32, 4>, Policy<Int4, 16, 64, 256, 16, 32, 4>,
                 Policy<Int4, 16, 128, 128, 16, 32, 4>, Policy<Int4, 16, 32, 256, 16, 32, 8>,
                 Policy<Int4, 64, 64, 128, 32, 32, 4>, Policy<Int4, 64, 64, 64, 32, 32, 6>,
                 Policy<Int4, 64, 32, 128, 16, 32, 6>>;

using Operators = gemm::JoinFamilies<Int8Tiles, Int4Tiles>;

}  // namespace weft::perf::local
