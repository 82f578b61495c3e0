#include "tests/gemm/table/tiles_rows.hpp"  // on the CPU
