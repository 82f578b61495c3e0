// On the CPU, with one kernel of each operator: what is tested follows the sums.
#define WEFT_ONE_KERNEL 1
#include "tests/conv/launch/slice_cases.hpp"
