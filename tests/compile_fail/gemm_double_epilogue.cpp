// The stages of an epilogue compute in float.
// EXPECT: static assertion failed: weft: the epilogue of a GEMM of doubles or complex numbers ends in ToSums
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = double;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ToFloat>;
  static constexpr auto config = weft::gemm::kSimtDouble64x64;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
