#include "tests/gemm/stream_cases.hpp"  // on the CPU
