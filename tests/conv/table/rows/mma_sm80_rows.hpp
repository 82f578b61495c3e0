// The rows of mma_sm80.
#pragma once

#include "tests/conv/table/rows.hpp"

namespace weft::conv::table {

#define MMA_SM80 TABLE_ROW
#include "tests/conv/table/operators.def"
#undef MMA_SM80

}  // namespace weft::conv::table
