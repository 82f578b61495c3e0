// The kernels of matrix products and convolutions. Each is in a header of its own, and all have the
// same interface:
//
//     scheduler -> operands -> pipeline and mainloop -> epilogue
//
// KernelOf chooses the one that a mainloop's traits ask for.
#pragma once

#include <type_traits>

#include "weft/gemm/kernel/cluster_split_k.hpp"
#include "weft/gemm/kernel/first_layer.hpp"
#include "weft/gemm/kernel/multistage.hpp"
#include "weft/gemm/kernel/warp_specialized.hpp"
#include "weft/gemm/kernel/warp_specialized_pingpong.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <class Parts>
struct KernelChoice {
  using Mainloop = typename Parts::Mainloop;
  static constexpr auto Choose() {
    if constexpr (Parts::Pipeline::kProducerThreads == 0) {
      return std::type_identity<MultistageKernel<Parts>>();
    } else if constexpr (Parts::Pipeline::Producer::kFirstLayer) {
      return std::type_identity<FirstLayerKernel<Parts>>();
    } else if constexpr (Mainloop::kClusterSplit > 1) {
      return std::type_identity<ClusterSplitKKernel<Parts>>();
    } else if constexpr (Mainloop::kConsumerGroups > 1) {
      return std::type_identity<PingPongKernel<Parts>>();
    } else {
      return std::type_identity<WarpSpecializedKernel<Parts>>();
    }
  }
  using type = typename decltype(Choose())::type;
};
template <class Parts>
using KernelOf = typename KernelChoice<Parts>::type;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
