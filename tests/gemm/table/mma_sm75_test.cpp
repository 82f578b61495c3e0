#include "tests/gemm/table/mma_sm75_rows.hpp"  // on the CPU
