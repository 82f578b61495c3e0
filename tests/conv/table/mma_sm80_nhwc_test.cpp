#include "tests/conv/table/rows/mma_sm80_nhwc_rows.hpp"  // on the CPU
