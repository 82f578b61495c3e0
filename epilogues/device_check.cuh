// Calls an epilogue's activations from device code without a constexpr function between, where nvcc
// refuses a functor that has no device code. The functions are compiled and never called.
//
// nvcc looks into a function for calls of functions without device code only where it is marked for
// the device, and leaves such a call out where it is constexpr alone. A friend declaration marks a
// member function of somebody else's class (docs/decisions/0027-functor-branches.md).
#pragma once

#include "weft/epilogues/chain.hpp"

namespace weft::epilogues {

#define WEFT_MARK_FOR_DEVICE(Mark, member)                                      \
  template <class MemberT>                                                      \
  struct Mark {};                                                               \
  template <class Result, class Functor, class... Args>                         \
  struct Mark<Result (Functor::*)(Args...) const> {                             \
    friend __device__ constexpr Result Functor::member(Args...) const;          \
  };                                                                            \
  template <class Result, class Functor, class... Args>                         \
  struct Mark<Result (Functor::*)(Args...) const noexcept> {                    \
    friend __device__ constexpr Result Functor::member(Args...) const noexcept; \
  }
// g++, which compiles the host's code, has no need of it, and other versions of nvcc were not tried.
#if defined(__CUDA_ARCH__) && __CUDACC_VER_MAJOR__ == 13
#pragma nv_diagnostic push
#pragma nv_diag_suppress 20039  // that this makes functions of the host the device's, too
WEFT_MARK_FOR_DEVICE(MarkCall, operator());
WEFT_MARK_FOR_DEVICE(MarkFilter, Filter);
WEFT_MARK_FOR_DEVICE(MarkChannelValues, ChannelValues);
#pragma nv_diagnostic pop
#else
template <class MemberT>
struct MarkCall {};
template <class MemberT>
struct MarkFilter {};
template <class MemberT>
struct MarkChannelValues {};
#endif
#undef WEFT_MARK_FOR_DEVICE

template <class Functor>
concept PlainFilter = requires { &Functor::Filter; };
template <class Functor>
concept PlainChannelValues = requires { &Functor::ChannelValues; };

// Marks what kernels call of a functor. Overloaded functions and templates stay as they are.
template <class Functor>
__device__ void MarkFunctor() {
  if constexpr (internal::PlainCall<Functor>) {
    (void)sizeof(MarkCall<decltype(&Functor::operator())>);
  }
  if constexpr (PlainFilter<Functor>) (void)sizeof(MarkFilter<decltype(&Functor::Filter)>);
  if constexpr (PlainChannelValues<Functor>) {
    (void)sizeof(MarkChannelValues<decltype(&Functor::ChannelValues)>);
  }
}

template <class Functor, class... Args>
__device__ void CallOnDevice(const Functor* functor, const Args&... args) {
  MarkFunctor<Functor>();
  (void)(*functor)(args...);
}

template <class StageT>
__device__ void CheckStageOnDevice(const StageT* stage) {
  if constexpr (kIsActivation<StageT>) {
    if constexpr (PlainActivation<StageT>) {
      CallOnDevice(stage, 0.5f);
    } else if constexpr (ChannelActivation<StageT>) {
      CallOnDevice(stage, 0.5f, 0.25f);
    } else {
      CallOnDevice(stage, 0.5f, OutputCoord{});
    }
  }
}

template <class... Stages>
__device__ void CheckChainOnDevice(const Chain<Stages...>*) {
  (CheckStageOnDevice<Stages>(nullptr), ...);
}

// Policies of a depthwise and a 1x1 convolution in one kernel have one for each.
template <class PolicyT>
concept HasDepthwiseEpilogue = requires { typename PolicyT::DepthwiseEpilogue; };

// For an explicit instantiation beside that of policy PolicyT's kernel.
template <class PolicyT>
__device__ void CheckEpilogueOnDevice() {
  CheckChainOnDevice(static_cast<const typename PolicyT::Epilogue*>(nullptr));
  if constexpr (HasDepthwiseEpilogue<PolicyT>) {
    CheckChainOnDevice(static_cast<const typename PolicyT::DepthwiseEpilogue*>(nullptr));
  }
}

}  // namespace weft::epilogues
