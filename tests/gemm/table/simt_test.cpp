#include "tests/gemm/table/simt_rows.hpp"  // on the CPU
