// Which kernel a policy's mainloop means.
#pragma once

#include <type_traits>

#include "weft/conv/mma_kernel.hpp"
#include "weft/conv/mma_sm75_kernel.hpp"
#include "weft/conv/simt_kernel.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

template <class P, gemm::Mainloop mainloop, bool kPointwise>
struct KernelFor;
template <class P, bool kPointwise>
struct KernelFor<P, gemm::Mainloop::kSimt, kPointwise> {
  using type = SimtKernel<P, kPointwise>;
};
template <class P, bool kPointwise>
struct KernelFor<P, gemm::Mainloop::kMmaSm75, kPointwise> {
  using type = MmaSm75Kernel<P, kPointwise>;
};
template <class P, bool kPointwise>
struct KernelFor<P, gemm::Mainloop::kMmaSm80, kPointwise> {
  using type = MmaSm80Kernel<P, kPointwise>;
};

template <class P, bool kPointwise>
using Kernel = typename KernelFor<P, P::config.mainloop, kPointwise>::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
