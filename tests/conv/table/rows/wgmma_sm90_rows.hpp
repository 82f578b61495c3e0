// The rows of wgmma_sm90.
#pragma once

#include "tests/conv/table/rows.hpp"

namespace weft::conv::table {

#define WGMMA_SM90 TABLE_ROW
#include "tests/conv/table/operators.def"
#undef WGMMA_SM90

}  // namespace weft::conv::table
