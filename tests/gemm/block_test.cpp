// gemm::Block on the CPU executor; its layouts, copies and tiles.
#include "tests/gemm/block_cases.hpp"
