// An alignment that NCxHWx<4> cannot have.
// EXPECT: static assertion failed: weft: config.alignment.src does not fit NCxHWx<4>: its channel
// blocks are 4 bytes
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr weft::conv::Config config = {
      weft::gemm::Mainloop::kSimt, {64, 64, 32}, {32, 32, 32}, {4, 8, 4}, 2, {16, 4}};
};

auto op = weft::conv::Convolution<Mine>::Create({});
