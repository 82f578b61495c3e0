// The only __global__ function of the project. nvcc compiles it, and NVRTC, which has no CUDA runtime.
#pragma once

#if !defined(__CUDACC__)
#error "cuda_entry.cuh needs nvcc: include it from .cu files only"
#endif

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

// Whether code for `arch` (as __CUDA_ARCH__), with or without the instructions of sm_90a, can hold
// the kernel.
constexpr bool CanHold(Requires needed, int arch, bool has_sm90a) {
  return needed.Fits(arch / 10) && (!needed.exact || has_sm90a);
}

// What a flag of nvcc says, known when it optimises device code: no macro tells.
extern "C" __device__ int __nvvm_reflect(const char* flag);
// Defined nowhere: ptxas says the name.
extern "C" __device__ void weft_computes_to_the_bit_compile_without_use_fast_math_and_ftz();
extern "C" __device__ void
weft_computes_to_the_bit_compile_without_prec_div_false_and_prec_sqrt_false();

// Nothing, or the end of the compiler where flags would make the GPU's results others than the CPU's: numbers that are
// subnormal flushed to 0, or quotients and roots (of functors) that are not rounded.
__device__ __forceinline__ void CheckFlags() {
#if defined(__CUDA_ARCH__)
  if (__nvvm_reflect("__CUDA_FTZ") != 0) {
    weft_computes_to_the_bit_compile_without_use_fast_math_and_ftz();
  }
#if __CUDACC_VER_MAJOR__ >= 13
  if (__nvvm_reflect("__CUDA_PREC_DIV") == 0 || __nvvm_reflect("__CUDA_PREC_SQRT") == 0) {
    weft_computes_to_the_bit_compile_without_prec_div_false_and_prec_sqrt_false();
  }
#endif
#endif
}

// The generic entry. A kernel that does not fit the GPU being compiled for is left out of the
// image. Operators compare kRequires with the device before they launch; should one get here all
// the same (a new GPU running an image that was built for old ones only), the launch fails instead
// of doing nothing.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, MinBlocksPerSm<Kernel>(kBefore90))
    Entry(const __grid_constant__ typename Kernel::Params params) {
  CheckFlags();
  extern __shared__ __align__(1024) unsigned char weft_shared_memory[];
#if defined(__CUDA_ARCH__)
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr bool kHasSm90a = true;
#else
  constexpr bool kHasSm90a = false;
#endif
  if constexpr (CanHold(Kernel::kRequires, __CUDA_ARCH__, kHasSm90a)) {
    Kernel()(params, *reinterpret_cast<typename Kernel::SharedStorage*>(weft_shared_memory),
             Thread());
  } else {
    __trap();
  }
#endif
}

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
