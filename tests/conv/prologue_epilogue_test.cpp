#include "tests/conv/prologue_epilogue_cases.hpp"  // on the CPU
