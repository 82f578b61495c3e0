#include "tests/conv/table/mma_sm80_nhwc_rows.hpp"  // on the CPU
