// Tensor cores do not multiply floats.
// EXPECT: static assertion failed: weft: float, double and weft::Complex of a block's product take config.mainloop =
#include "tests/compile_fail/block_base.hpp"

struct Mine : weft::gemm::BlockTypes<float, RowMajor, ColumnMajor> {
  static constexpr auto config = BlockBase::config;
};

weft::gemm::Block<Mine>::SharedStorage shared;
