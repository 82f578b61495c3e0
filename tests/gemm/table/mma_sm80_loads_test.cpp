#include "tests/gemm/table/mma_sm80_loads_rows.hpp"  // on the CPU
