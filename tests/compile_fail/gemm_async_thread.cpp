// A thread's columns do not fill the vectors in which cp.async's operands are read.
// EXPECT: static assertion failed: weft: config.thread.m and n must be multiples of 16 bytes
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = float;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::ToSums<float>>;
  static constexpr auto config =
      weft::gemm::SimtAsyncConfig({64, 64, 16}, {16, 64, 16}, {2, 16, 1}, 3, {4, 4});
};

auto op = weft::gemm::Gemm<Mine>::Create({});
