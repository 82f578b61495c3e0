// The kernels of an operator, by number, so that host code of g++ can name those that nvcc
// compiled.
#pragma once

#include <utility>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// The kernels of a policy. Each kind of operator specialises it for its policies:
//     static constexpr int kCount;
//     template <int i> static constexpr bool kExists;  // whether PolicyT has a kernel i < kCount
//     template <int i> using Kernel = ...;
template <class PolicyT>
struct KernelList {
  static_assert(
      sizeof(PolicyT) == 0,
      "weft: kernels of a policy of this kind are not known here; weft_add_operators() and "
      "weft_add_family() are for convolutions, weft_add_gemms() and weft_add_gemm_family() "
      "for matrix products");
};

// Calls function.operator()<Kernel>() for kernel `index` of PolicyT.
template <class PolicyT, class Function>
[[gnu::visibility("hidden")]] void VisitKernel(int index, const Function& function) {
  const auto visit = [&]<int i>() {
    if constexpr (KernelList<PolicyT>::template kExists<i>) {
      if (i == index)
        function.template operator()<typename KernelList<PolicyT>::template Kernel<i>>();
    }
  };
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (visit.template operator()<i>(), ...);
  }(std::make_integer_sequence<int, KernelList<PolicyT>::kCount>());
}

}  // namespace WEFT_BACKEND

// Launches kernel `index` of PolicyT on the GPU. params: points to the kernel's Params.
// attributes.dependent has an effect on kernels that support programmatic dependent launch only
// (Kernel::kDependent). WEFT_INSTANTIATE_OPERATOR(PolicyT) in a .cu file defines it
// (instantiate.cuh; weft_add_operators() of CMake writes that file). It is weak, so that a program
// without that object links, runs on the CPU, and can say what is missing. It is hidden, as is all
// that runs a kernel, because another shared library of the program may hold the same policy,
// compiled with other flags.
template <class PolicyT>
[[gnu::weak, gnu::visibility("hidden")]] arch::LaunchResult LaunchOnGpu(
    int index, const void* params, arch::Dim3 grid, Stream stream,
    const arch::LaunchAttributes& attributes);

}  // namespace weft::gemm
