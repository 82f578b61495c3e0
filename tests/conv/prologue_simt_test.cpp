#include "tests/conv/prologue_simt_cases.hpp"  // on the CPU
