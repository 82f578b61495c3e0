// Calls an epilogue's activations from device code without a constexpr function between, where nvcc
// refuses a functor that has no device code. The functions are compiled and never called.
#pragma once

#include "weft/epilogues/chain.hpp"

namespace weft::epilogues {

template <class F, class... Args>
__device__ void CallOnDevice(const F* functor, const Args&... args) {
  (void)(*functor)(args...);
}

template <class S>
__device__ void CheckStageOnDevice(const S* stage) {
  if constexpr (kIsActivation<S>) {
    if constexpr (PlainActivation<S>) {
      CallOnDevice(stage, 0.5f);
    } else if constexpr (ChannelActivation<S>) {
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

// For an explicit instantiation beside that of policy P's kernel.
template <class P>
__device__ void CheckEpilogueOnDevice() {
  CheckChainOnDevice(static_cast<const typename P::Epilogue*>(nullptr));
  if constexpr (requires { typename P::DepthwiseEpilogue; }) {
    CheckChainOnDevice(static_cast<const typename P::DepthwiseEpilogue*>(nullptr));
  }
}

}  // namespace weft::epilogues
