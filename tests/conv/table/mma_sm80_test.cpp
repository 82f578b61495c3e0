#include "tests/conv/table/mma_sm80_rows.hpp"  // on the CPU
