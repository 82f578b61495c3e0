// The rows of mma_sm80_nhwc.
#pragma once

#include "tests/conv/table/rows.hpp"

namespace weft::conv::table {

#define MMA_SM80_NHWC TABLE_ROW
#include "tests/conv/table/operators.def"
#undef MMA_SM80_NHWC

}  // namespace weft::conv::table
