// Sums of halves of something else.
// EXPECT: static assertion failed: weft: Sum of a GEMM, where a policy has it, is weft::Half
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Sum = weft::Half;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
