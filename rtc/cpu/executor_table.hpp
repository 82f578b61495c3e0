// The functions of the CPU executor as a table: how the program that loads a twin gives it what its
// kernels call. A twin then needs no symbol of the program, whose executor may be hidden in an
// executable, a shared library or an extension module of Python.
#pragma once

#include <cstddef>
#include <cstdint>

#include "weft/gemm/arch/cpu_launch.hpp"

namespace weft::rtc {

namespace internal {

using namespace arch;       // NOLINT: the rows of executor.def are written in the words of both
using namespace arch::cpu;  // NOLINT

struct ExecutorFunctions {
#define WEFT_EXECUTOR(result, function, field, parameters, arguments) result(*field) parameters;
#include "weft/rtc/cpu/executor.def"
#undef WEFT_EXECUTOR
};

}  // namespace internal

using ExecutorTable = internal::ExecutorFunctions;

// The executor of this program.
const ExecutorTable& Executor();

}  // namespace weft::rtc
