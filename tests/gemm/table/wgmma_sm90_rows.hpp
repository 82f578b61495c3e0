// The rows of wgmma_sm90.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define WGMMA_SM90 TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef WGMMA_SM90

}  // namespace weft::gemm::table
