// Who gets the outputs of the depthwise half of a fused kernel (depthwise_pointwise_kernel.hpp): the
// block alone, in its own shared memory, or all blocks of a cluster, each in its own.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

struct BlockExchange {
  // Arrive is called first, and Wait before the first Store.
  WEFT_DEVICE static void Arrive(arch::Thread) {}
  WEFT_DEVICE static void Wait(arch::Thread) {}
  // The block's number among those that exchange.
  WEFT_DEVICE static int Rank(arch::Thread) { return 0; }
  // Where block `rank` has what this block has at the shared address `own`.
  WEFT_DEVICE static std::uint32_t AddressIn(arch::Thread, std::uint32_t own, int /*rank*/) {
    return own;
  }
  WEFT_DEVICE static void Store(arch::Thread t, std::uint32_t address, std::uint32_t word) {
    t.StoreSharedAt(address, word);
  }
  // All threads call it between the last Store and the first load of what was stored.
  WEFT_DEVICE static void Sync(arch::Thread t) { t.SyncThreads(); }
};

// The same of a cluster.
struct ClusterExchange {
  WEFT_DEVICE static void Arrive(arch::Thread t) { t.ClusterArriveRelaxed(); }
  // All blocks of the cluster have started, so that their shared memory may be written.
  WEFT_DEVICE static void Wait(arch::Thread t) { t.ClusterWait(); }
  WEFT_DEVICE static int Rank(arch::Thread t) { return t.cluster_rank(); }
  WEFT_DEVICE static std::uint32_t AddressIn(arch::Thread t, std::uint32_t own, int rank) {
    return t.MapToRank(own, rank);
  }
  WEFT_DEVICE static void Store(arch::Thread t, std::uint32_t address, std::uint32_t word) {
    t.StoreRemote(address, word);
  }
  WEFT_DEVICE static void Sync(arch::Thread t) { t.ClusterSync(); }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
