// Clusters of sm_90, as PTX: ranks, barriers, and the shared memory of the cluster's other blocks. Base
// of HopperThread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct ClusterThread {
  WEFT_DEVICE static int cluster_rank() {
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
  }
  WEFT_DEVICE static int cluster_size() {
    uint32_t size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return static_cast<int>(size);
  }

  // A barrier for all threads of the cluster in two halves; orders shared and global memory.
  WEFT_DEVICE static void ClusterArrive() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  }
  // That orders nothing but the MbarInits before a FenceMbarInit, and so waits for no stores.
  WEFT_DEVICE static void ClusterArriveRelaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  WEFT_DEVICE static void ClusterWait() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  }
  WEFT_DEVICE static void ClusterSync() {
    ClusterArrive();
    ClusterWait();
  }

  // The cluster's address of what a block of the cluster has at `addr` of its shared memory. That
  // block must have started and not have returned: ClusterSync first, and last.
  WEFT_DEVICE static uint32_t MapToRank(uint32_t addr, int rank) {
    uint32_t mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(addr), "r"(rank));
    return mapped;
  }
  // 4, 8 or 16 bytes.
  template <class Value>
  WEFT_DEVICE static Value LoadRemote(uint32_t addr) {
    static_assert(std::is_trivially_copyable_v<Value>);
    uint32_t w[sizeof(Value) / 4];
    if constexpr (sizeof(Value) == 4) {
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(w[0]) : "r"(addr) : "memory");
    } else if constexpr (sizeof(Value) == 8) {
      asm volatile("ld.shared::cluster.v2.u32 {%0, %1}, [%2];"
                   : "=r"(w[0]), "=r"(w[1])
                   : "r"(addr)
                   : "memory");
    } else {
      static_assert(sizeof(Value) == 16);
      asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                   : "r"(addr)
                   : "memory");
    }
    Value v;
    __builtin_memcpy(&v, w, sizeof(Value));
    return v;
  }
  template <class Value>
  WEFT_DEVICE static void StoreRemote(uint32_t addr, Value v) {
    static_assert(std::is_trivially_copyable_v<Value>);
    uint32_t w[sizeof(Value) / 4];
    __builtin_memcpy(w, &v, sizeof(Value));
    if constexpr (sizeof(Value) == 4) {
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(addr), "r"(w[0]) : "memory");
    } else if constexpr (sizeof(Value) == 8) {
      asm volatile("st.shared::cluster.v2.u32 [%0], {%1, %2};" ::"r"(addr), "r"(w[0]), "r"(w[1])
                   : "memory");
    } else {
      static_assert(sizeof(Value) == 16);
      asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(addr), "r"(w[0]),
                   "r"(w[1]), "r"(w[2]), "r"(w[3])
                   : "memory");
    }
  }

  // Sends 16 bytes to `addr` of the cluster; they have come when the phase of `bar`, a barrier of
  // the block that receives, has ended, which expects them. The sender may return before. MbarWait
  // acquires for the block, not for the cluster; that differs in what it does to cached global
  // memory only.
  template <class Value>
  WEFT_DEVICE static void StoreRemoteAsync(uint32_t addr, Value v, uint32_t bar) {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) == 16);
    uint32_t w[4];
    __builtin_memcpy(w, &v, sizeof(Value));
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
        "[%5];" ::"r"(addr),
        "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(bar)
        : "memory");
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
