// Warpgroups pass over the slices of tiles that are the others'.
// EXPECT: static assertion failed: weft: config.turns of a product of Listed is 1: its tiles have slices of their own
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/gemm/gemm_list.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::kWgmma128x64Turns;
};

auto op = weft::gemm::Gemm<weft::gemm::Listed<Mine>>::Create({weft::gemm::GemmProblem()});
