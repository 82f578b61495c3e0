// On the CPU, under the executor's schedules too, and what is refused.
#include "tests/conv/bottleneck/bottleneck_cases.hpp"
