// The rows of wgmma_sm90 of which an operand is upcast.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define WGMMA_SM90_UPCAST TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef WGMMA_SM90_UPCAST

}  // namespace weft::gemm::table
