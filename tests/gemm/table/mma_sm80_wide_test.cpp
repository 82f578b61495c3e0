#include "tests/gemm/table/mma_sm80_wide_rows.hpp"  // on the CPU
