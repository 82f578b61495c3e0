// Warpgroups pass over the k tiles of tiles that are the others'.
// EXPECT: static assertion failed: weft: config.ping_pong of a product of Listed is false: its tiles have k tiles of their own
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/gemm/gemm_list.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::kWgmma128x64PingPong;
};

auto op = weft::gemm::Gemm<weft::gemm::Listed<Mine>>::Create({weft::gemm::GemmProblem()});
