// An alignment that NCxHWx<4> cannot have.
// EXPECT: static assertion failed: weft: config.alignment.src does not fit NCxHWx<4>: its channel blocks are 4 bytes
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::conv::WithSrcAlignment(weft::conv::kSimt64x64, 16);
};

auto op = weft::conv::Convolution<Mine>::Create({});
