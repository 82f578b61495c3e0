// The rows of mma_sm80.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define MMA_SM80 TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef MMA_SM80

}  // namespace weft::gemm::table
