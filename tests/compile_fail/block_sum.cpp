// Halves are summed in float.
// EXPECT: static assertion failed: weft: Sum of a block's product is std::int32_t for bytes, float for 16-bit floats
#include "tests/compile_fail/block_base.hpp"

struct Mine : BlockBase {
  using Sum = weft::Half;
};

weft::gemm::Block<Mine>::SharedStorage shared;
