// The name is the sentence: it is ptxas that knows the flags.
// EXPECT: Unresolved extern function 'weft_computes_to_the_bit_compile_without_(use_fast_math_and_ftz|prec_div_false_and_prec_sqrt_false)'
#include "weft/gemm/arch/cuda_launch.cuh"

struct Kernel {
  static constexpr int kThreads = 32;
  static constexpr weft::arch::Requires kRequires{.min = 75};
  struct Params {
    float* out;
  };
  struct SharedStorage {};
  __device__ void operator()(const Params& p, SharedStorage&, weft::arch::Thread) const {
    *p.out = 1.0f;
  }
};

template weft::arch::LaunchResult weft::arch::LaunchOnCuda<Kernel>(Dim3, const Kernel::Params&,
                                                                   Stream, const LaunchAttributes&);
