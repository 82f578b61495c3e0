// Warpgroups pass over tiles that are the others', which may not exist.
// EXPECT: static assertion failed: weft: config.ping_pong of a product of Grouped is false: groups may lack some of the grid's tiles, and ping-pong passes over tiles that all exist
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  static constexpr auto config = weft::gemm::kWgmma128x64PingPong;
};

auto op = weft::gemm::Gemm<weft::gemm::Grouped<Mine>>::Create({});
