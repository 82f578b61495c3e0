// The numbers of an operator.
#pragma once

#include "weft/gemm/tile.hpp"

namespace weft::gemm {

// Widths in bytes of one thread's accesses to global memory.
struct Alignment {
  int src =
      0;  // 4 for NCxHWx<4>: one pixel of one channel block; else 16, and 4 or 16 for matrices
  int dst = 0;  // 1, 2, 4, 8 or 16; at most the output channels that lie side by side in DstLayout
};

// The numbers of an operator. Of a convolution, m counts output pixels, n output channels and k
// input elements (C R S).
struct Config {
  Mainloop mainloop = Mainloop::kSimt;
  TileShape threadblock;  // one block's share of the output, and its step in k
  TileShape warp;         // one warp's share; with .k below threadblock.k, warps share the slice
  TileShape thread;  // simt: one thread's accumulators (m x n), .k of the instruction; else zeros
  TileShape instruction;  // {1, 1, 4} for dp4a; {8, 8, 16} for kMmaSm75, {16, 8, 32} for kMmaSm80
  int stages = 0;  // shared-memory buffers; 2 for kMmaSm75 and kSimt, where products of floats and
                   // doubles take 3 and more, too: cp.async, sm_80 and newer
  Alignment alignment;
};

// `config` with stores of `bytes` bytes: WithDstAlignment(kSimt64x64, 1) for NHWC with any K, 8 for
// NCxHWx<32>.
constexpr Config WithDstAlignment(Config config, int bytes) {
  config.alignment.dst = bytes;
  return config;
}

// `config` with loads of `bytes` bytes: 8 or 4 for NHWC whose C is not a multiple of 16.
constexpr Config WithSrcAlignment(Config config, int bytes) {
  config.alignment.src = bytes;
  return config;
}

namespace internal {

constexpr bool PositiveTile(const TileShape& t) {
  return t.m > 0 && t.n > 0 && t.k > 0;
}

constexpr bool Divides(const TileShape& small, const TileShape& large) {
  return PositiveTile(small) && PositiveTile(large) && large.m % small.m == 0 &&
         large.n % small.n == 0;
}

constexpr bool StoreWidth(int bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

}  // namespace internal
}  // namespace weft::gemm
