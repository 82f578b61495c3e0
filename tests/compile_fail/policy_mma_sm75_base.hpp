// A correct policy of the mma_sm75 mainloop, to derive from.
#pragma once

#include "tests/compile_fail/policy_base.hpp"

struct MmaSm75Base : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::NCxHWx<32>;
};
