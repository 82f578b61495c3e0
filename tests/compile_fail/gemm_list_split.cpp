// A cluster shares the slices of a tile.
// EXPECT: static assertion failed: weft: config.split of a product of Listed is 1: its products are tiles enough
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/gemm/gemm_list.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::kWgmma64x64Split4;
};

auto op = weft::gemm::Gemm<weft::gemm::Listed<Mine>>::Create({weft::gemm::GemmProblem()});
