// More products in a stage than nvcc unrolls with the sums in registers.
// EXPECT: static assertion failed: weft: config.warp.k of simt_async times config.thread.m times
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = float;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::ToSums<float>>;
  static constexpr auto config =
      weft::gemm::SimtAsyncConfig({128, 256, 32}, {64, 64, 32}, {8, 16, 1}, 3, {4, 4});
};

auto op = weft::gemm::Gemm<Mine>::Create({});
