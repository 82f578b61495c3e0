#define TABLE_WGMMA_TILES false
#include "tests/gemm/table/tiles_rows.hpp"  // on the CPU
