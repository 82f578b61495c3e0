// A ring needs three stages.
// EXPECT: static assertion failed: weft: the mma_sm80 mainloop has config.stages of 3 or more
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  static constexpr weft::conv::MmaSm80Config config{{64, 64, 64}, {32, 32, 64}, 2, 4};
};

auto op = weft::conv::Convolution<Mine>::Create({});
