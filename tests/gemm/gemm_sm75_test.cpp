#include "tests/gemm/gemm_sm75_cases.hpp"
