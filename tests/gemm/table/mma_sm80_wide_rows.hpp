// The rows of mma_sm80 whose elements are doubles or complex doubles.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define MMA_SM80_WIDE TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef MMA_SM80_WIDE

}  // namespace weft::gemm::table
