#define TABLE_WGMMA_TILES true
#include "tests/gemm/table/tiles_rows.hpp"  // on the CPU
