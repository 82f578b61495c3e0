#include "tests/gemm/table/mma_sm80_rows.hpp"  // on the CPU
