// The rows of mma_sm80 whose operands have load functors.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define MMA_SM80_LOADS TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef MMA_SM80_LOADS

}  // namespace weft::gemm::table
