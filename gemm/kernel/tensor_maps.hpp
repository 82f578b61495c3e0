// Where the tensor maps of a kernel's operands are, and what a thread does before TMA reads one.
#pragma once

#include <type_traits>

#include "weft/gemm/arch/arch.hpp"

namespace weft::gemm {
inline namespace WEFT_BACKEND {

// In the kernel's Params: each is prefetched once, by a producer.
template <class Parts>
struct MapsInParams {
  static constexpr bool kOfA = Parts::OperandA::kHasTensorMap;
  static constexpr bool kOfB = Parts::OperandB::kHasTensorMap;

  // All threads of the block call it.
  template <class Params>
  WEFT_DEVICE static void Prefetch(const Params& p, arch::Thread t) {
    constexpr int kConsumers = Parts::Mainloop::kThreads;
    if constexpr (kOfA) {
      if (t.tid() == kConsumers + 32) t.PrefetchTensorMap(p.a.map);
    }
    if constexpr (kOfB) {
      if (t.tid() == kConsumers) t.PrefetchTensorMap(p.b.map);
    }
  }
  // A producer calls it before it loads a work tile.
  template <class Work>
  WEFT_DEVICE static void Fence(arch::Thread, const Work&, int /*producer*/) {}
};

// In global memory, as each product of a list has maps of its own. TMA reads such a map only behind
// a fence.
template <class Parts>
struct MapsOfProducts {
  static constexpr bool kOfA = false, kOfB = false;

  template <class Params>
  WEFT_DEVICE static void Prefetch(const Params&, arch::Thread) {}

  template <class Work>
  WEFT_DEVICE static void Fence(arch::Thread t, const Work& work, int producer) {
    t.FenceTensorMap(producer == 0 ? work.product.b.map : work.product.a.map);
    if constexpr (Parts::Pipeline::Producer::RowThreads() == 0)
      t.FenceTensorMap(work.product.a.map);
  }
};

template <class Parts>
using TensorMapsOf =
    std::conditional_t<Parts::Scheduler::kListed, MapsOfProducts<Parts>, MapsInParams<Parts>>;

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
