// The rows of mma_sm75.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define MMA_SM75 TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef MMA_SM75

}  // namespace weft::gemm::table
