// The same tests on the GPU: the CPU executor and the hardware agree with one definition.
#include "tests/gemm/arch/fragments_cases.hpp"
#include "tests/gemm/arch/primitives_cases.hpp"
