// Where tests need not have more than one policy of each kind of kernel, nor all problems.
#pragma once

#include "weft/gemm/arch/isa/backend.hpp"

// 1 under AddressSanitizer and ThreadSanitizer, and where a build without a GPU only compiles the kernels of a GPU
// test (cmake/WeftOwn.cmake: weft_kernels_alone). Tests then leave out the policies whose kernels touch memory, and
// synchronise, as those of another policy of theirs do: the same mainloop, pipeline, operands and store with other
// element types, sizes or arithmetic. On a CPU without a sanitizer and on a GPU all of them run.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(WEFT_KERNELS_ALONE)
#define WEFT_ONE_OF_EACH_KIND 1
#else
#define WEFT_ONE_OF_EACH_KIND 0
#endif

namespace weft {

// How many of `problems` random ones a kernel runs here, the first ones: a GPU all of them, a CPU two thirds, or a third
// where there is one policy of each kind.
constexpr int ProblemsHere(int problems) {
#if defined(WEFT_CUDA_BACKEND)
  return problems;
#else
  return (problems * (WEFT_ONE_OF_EACH_KIND ? 1 : 2) + 2) / 3;
#endif
}

}  // namespace weft
