#include "tests/gemm/table/wgmma_sm90_upcast_rows.hpp"  // on the CPU
