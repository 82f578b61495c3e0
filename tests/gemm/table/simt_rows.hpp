// The rows of simt.
#pragma once

#include "tests/gemm/table/rows.hpp"

namespace weft::gemm::table {

#define SIMT TABLE_ROW
#include "tests/gemm/table/operators.def"
#undef SIMT

}  // namespace weft::gemm::table
