// The rows of mma_sm75.
#pragma once

#include "tests/conv/table/rows.hpp"

namespace weft::conv::table {

#define MMA_SM75 TABLE_ROW
#include "tests/conv/table/operators.def"
#undef MMA_SM75

}  // namespace weft::conv::table
