// On the CPU. Golden vectors are what the emulation computes, which a sanitizer has no part in.
#include "tests/gemm/arch/wgmma_cases.hpp"
#include "tests/kinds.hpp"
#if !WEFT_ONE_OF_EACH_KIND
#include "tests/gemm/arch/golden_wgmma_cases.hpp"
#endif
