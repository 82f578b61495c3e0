// The kernels of an operator, by number, so that host code of g++ can name those that nvcc
// compiled.
#pragma once

#include <utility>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::gemm {

// A kernel of an operator that is ready to start.
struct Launch {
  int kernel = 0;                // its number in the KernelList of the operator's policy
  const void* params = nullptr;  // the kernel's Params
  arch::Dim3 grid;               // operators: one block, or cluster, for each tile
  // Operators set `constant` and `shared_bytes`; a back end adds the rest when it launches.
  arch::LaunchAttributes attributes = {};
  // The number of persistent clusters is a multiple of this.
  int blocks_multiple = 1;
};

// With WEFT_ONE_KERNEL an operator of convolutions or products has the kernel that takes every
// problem, and none of those that take some of them in less time. Weft's tests define it where they
// are about what follows the sums, which is the same in all of them. No other source of a program
// may then have the same policies without it.
#if defined(WEFT_ONE_KERNEL) && WEFT_ONE_KERNEL
inline constexpr bool kOneKernel = true;
#else
inline constexpr bool kOneKernel = false;
#endif

// What a launch says whose kernel is in no object of the program.
[[gnu::visibility("hidden")]] inline constexpr char kNoSuchKernel[] =
    "the program lacks this kernel of the policy; compile all its files with the same "
    "WEFT_ONE_KERNEL";

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

// Kernel kIndex of PolicyT. A type of its own, so that the names that profilers, traces and errors
// show say the policy and the number, and not all the parts that the kernel is made of.
template <class PolicyT, int kIndex>
struct OperatorKernel : KernelList<PolicyT>::template Kernel<kIndex> {};

// Calls function.operator()<Kernel>() for kernel `index` of PolicyT. False if there is none.
template <class PolicyT, class Function>
[[gnu::visibility("hidden")]] bool VisitKernel(int index, const Function& function) {
  bool found = false;
  const auto visit = [&]<int i>() {
    if constexpr (KernelList<PolicyT>::template kExists<i>) {
      if (i == index) {
        function.template operator()<OperatorKernel<PolicyT, i>>();
        found = true;
      }
    }
  };
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (visit.template operator()<i>(), ...);
  }(std::make_integer_sequence<int, KernelList<PolicyT>::kCount>());
  return found;
}

// Starts the kernel of PolicyT that a launch names: the same function for both back ends, which
// differ in `start`. It is called as start.operator()<Kernel>(params, attributes). False if this
// program's part for the back end lacks the kernel: other files were compiled with other macros.
template <class PolicyT, class Start>
[[gnu::visibility("hidden")]] bool StartKernel(const Launch& launch, const Start& start) {
  return VisitKernel<PolicyT>(launch.kernel, [&]<class Kernel>() {
    arch::LaunchAttributes attributes = launch.attributes;
    attributes.dependent = attributes.dependent && Kernel::kDependent;
    start.template operator()<Kernel>(*static_cast<const typename Kernel::Params*>(launch.params),
                                      attributes);
  });
}

}  // namespace WEFT_BACKEND

// Enqueues a launch of PolicyT's kernels on the GPU: StartKernel, compiled by nvcc.
// attributes.dependent has an effect on kernels that support programmatic dependent launch only
// (Kernel::kDependent). WEFT_INSTANTIATE_OPERATOR(PolicyT) in a .cu file defines it
// (instantiate.cuh; weft_add_operators() of CMake writes that file). It is weak, so that a program
// without that object links, runs on the CPU, and can say what is missing. It is hidden, as is all
// that runs a kernel, because another shared library of the program may hold the same policy,
// compiled with other flags.
template <class PolicyT>
[[gnu::weak, gnu::visibility("hidden")]] arch::LaunchResult LaunchOnGpu(const Launch& launch,
                                                                        Stream stream);

}  // namespace weft::gemm
