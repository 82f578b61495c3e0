// Compiles the GPU kernels of one operator; included by conv/instantiate.cuh and
// gemm/instantiate.cuh, which know the kernels.
#pragma once

#include <type_traits>

#include "weft/epilogues/device_check.cuh"
#include "weft/gemm/arch/cuda_launch.cuh"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/policy/load_functor.hpp"
#include "weft/gemm/tile/tile.hpp"

namespace weft::gemm {

namespace internal {

// What policies of convolutions have beside those of products.
template <class PolicyT>
concept ChangesSource = requires { typename PolicyT::SourceFunctor; };
template <class PolicyT>
concept ChoosesFilters = requires { typename PolicyT::Prologue; };

}  // namespace internal

template <class Load>
__device__ void CheckLoadOnDevice() {
  if constexpr (kLoads<Load>) {
    epilogues::MarkFunctor<Load>();
    const Load load{};
    (void)internal::CallLoad<0>()(load);
  }
}

// Compiled, never called: nvcc refuses a user's functor that has no device code only where device
// code calls it directly.
template <class PolicyT>
__device__ void CheckFunctorsOnDevice() {
  epilogues::CheckEpilogueOnDevice<PolicyT>();
  if constexpr (internal::ChangesSource<PolicyT>) {
    const typename PolicyT::SourceFunctor functor{};
    epilogues::CallOnDevice(&functor, typename PolicyT::SourceFunctor::Source{}, 0);
  }
  CheckLoadOnDevice<LoadOf<PolicyT, true>>();
  CheckLoadOnDevice<LoadOf<PolicyT, false>>();
  if constexpr (internal::ChoosesFilters<PolicyT>) {
    epilogues::MarkFunctor<typename PolicyT::Prologue>();
    const typename PolicyT::Prologue prologue{};
    (void)prologue.Filter({});
  }
}

// In PolicyT's place where a file is compiled without sm_90a (WEFT_NO_SM90A, which weft_add_operators
// sets) and PolicyT's kernels could only trap: the program then holds no GPU code for P, and
// conv::Dispatch chooses among the others.
template <class PolicyT>
struct NotCompiled {};
template <class PolicyT>
struct KernelList<NotCompiled<PolicyT>> {
  static constexpr int kCount = 0;
};
#if defined(WEFT_NO_SM90A)
template <class PolicyT>
using Compiled = std::conditional_t<std::remove_cvref_t<decltype(PolicyT::config)>::kMainloop ==
                                        Mainloop::kWgmmaSm90,
                                    NotCompiled<PolicyT>, PolicyT>;
#else
template <class PolicyT>
using Compiled = PolicyT;
#endif

template <class PolicyT>
arch::LaunchResult LaunchOnGpu(const Launch& launch, Stream stream) {
  arch::LaunchResult result;
  if constexpr (KernelList<PolicyT>::kCount > 0) {
    const bool found =
        StartKernel<PolicyT>(launch, [&]<class Kernel>(const typename Kernel::Params& params,
                                                       const arch::LaunchAttributes& attributes) {
          result = arch::LaunchOnCuda<Kernel>(launch.grid, params, stream, attributes);
        });
    if (!found) result = {.code = arch::LaunchCode::kNoKernel, .message = kNoSuchKernel};
  }
  return result;
}

}  // namespace weft::gemm

#define WEFT_INSTANTIATE_OPERATOR(...)                                       \
  template __device__ void weft::gemm::CheckFunctorsOnDevice<__VA_ARGS__>(); \
  WEFT_INSTANTIATE_KERNELS(weft::gemm::Compiled<__VA_ARGS__>)

// The kernels of something that is no policy.
#define WEFT_INSTANTIATE_KERNELS(...)                                     \
  template weft::arch::LaunchResult weft::gemm::LaunchOnGpu<__VA_ARGS__>( \
      const weft::gemm::Launch&, weft::Stream)

// A functor's call of a function without device code is an error in what is compiled from here on.
#pragma nv_diag_error 20011
