// A cluster shares the k tiles of a tile.
// EXPECT: static assertion failed: weft: config.cluster_split_k of a product of Listed is 1: its products are tiles enough
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/gemm/gemm_list.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::kWgmma64x64SplitK4;
};

auto op = weft::gemm::Gemm<weft::gemm::Listed<Mine>>::Create({weft::gemm::GemmProblem()});
