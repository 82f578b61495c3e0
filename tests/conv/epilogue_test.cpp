#include "tests/conv/epilogue_cases.hpp"  // on the CPU
