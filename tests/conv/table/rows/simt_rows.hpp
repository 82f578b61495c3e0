// The rows of simt.
#pragma once

#include "tests/conv/table/rows.hpp"

namespace weft::conv::table {

#define SIMT TABLE_ROW
#include "tests/conv/table/operators.def"
#undef SIMT

}  // namespace weft::conv::table
