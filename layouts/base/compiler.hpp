// What every header includes first: refuses a compiler, or flags, with which Weft could not compute what it promises
// (docs/installing.md).
#pragma once

#if __cplusplus < 202002L
#error \
    "Weft needs C++20: compile with -std=c++20 (CMake: link weft::weft, and let no CXX_STANDARD or CUDA_STANDARD of the target be below 20)"
#include "weft/see_the_error_above.hpp"  // there is none: ends the compiler before a thousand more
#endif

// NVRTC has no host compiler; rtc/standard has what it needs instead.
#if !defined(__CUDACC_RTC__)
#if defined(__clang__) || __GNUC__ < 11
#error \
    "Weft needs g++ 11 or newer, also as the host compiler of nvcc (CMAKE_CUDA_HOST_COMPILER, NVCC_CCBIN, -ccbin): clang has no std::fma in constant expressions"
#include "weft/see_the_error_above.hpp"
#endif

#if defined(__GNUC__) && !defined(__clang__)
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || __GCC_IEC_559 < 2 || \
    (__FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16)
#error \
    "Weft computes to the bit: compile without -ffast-math, -Ofast, the flags that they imply, and -mfpmath=387"
#include "weft/see_the_error_above.hpp"
#endif
#endif
#endif
