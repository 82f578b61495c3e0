// 1024 accumulators to a thread.
// EXPECT: static assertion failed: weft: config.warp is too large: a thread's accumulators and fragments
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
  static constexpr auto config = weft::conv::MmaSm80Config({512, 512, 64}, {256, 128, 64}, 3);
};

auto op = weft::conv::Convolution<Mine>::Create({});
