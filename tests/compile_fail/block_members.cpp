// A product that does not say what its sums are.
// EXPECT: static assertion failed: weft: a block's product names its types ElementA, ElementB, ElementC and Sum
// MAX_ERRORS: 2
#include "tests/compile_fail/block_base.hpp"

struct Mine {
  using ElementA = weft::Half;
  using ElementB = weft::Half;
  using ElementC = float;
  static constexpr auto config = BlockBase::config;
};

weft::gemm::Block<Mine>::SharedStorage shared;
