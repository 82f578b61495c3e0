#include "tests/gemm/table/wgmma_sm90_rows.hpp"  // on the CPU
