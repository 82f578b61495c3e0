// Calls an epilogue's activations from device code without a constexpr function between, where nvcc
// refuses a functor that has no device code. The functions are compiled and never called.
#pragma once

#include "weft/epilogues/chain.hpp"

namespace weft::epilogues {

template <class Functor, class... Args>
__device__ void CallOnDevice(const Functor* functor, const Args&... args) {
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
