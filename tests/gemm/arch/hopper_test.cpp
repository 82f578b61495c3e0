// On the CPU. Golden vectors are what the emulation computes, which a sanitizer has no part in.
#include "tests/gemm/arch/hopper_cases.hpp"
#include "tests/kinds.hpp"
#if !WEFT_ONE_OF_EACH_KIND
#include "tests/gemm/arch/golden_hopper_cases.hpp"
#endif
