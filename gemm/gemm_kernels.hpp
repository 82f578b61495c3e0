// Which kernel a GEMM policy's mainloop means.
#pragma once

#include "weft/gemm/mma_gemm_kernel.hpp"
#include "weft/gemm/simt_async_gemm_kernel.hpp"
#include "weft/gemm/simt_gemm_kernel.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class P, Mainloop mainloop, bool kAsync>
struct GemmKernelFor;
template <class P>
struct GemmKernelFor<P, Mainloop::kSimt, false> {
  using type = SimtGemmKernel<P>;
};
template <class P>
struct GemmKernelFor<P, Mainloop::kSimt, true> {
  using type = SimtAsyncGemmKernel<P>;
};
template <class P, bool kAsync>
struct GemmKernelFor<P, Mainloop::kMmaSm80, kAsync> {
  using type = MmaGemmKernel<P>;
};
template <class P>
using GemmKernel = typename GemmKernelFor<P, P::config.mainloop,
                                          UsesSimtAsync<typename P::Element>(P::config)>::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
