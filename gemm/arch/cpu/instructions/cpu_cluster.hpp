// Clusters of sm_90, on the CPU: ranks, barriers, and the shared memory of the cluster's other blocks.
// The signatures are those of cuda_cluster.hpp. Base of HopperThread.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "weft/gemm/arch/cpu/executor/cpu_engines.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_access.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_tma.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct ClusterThread : LaneAccess {
  int cluster_rank() const { return cpu::ClusterRank(self); }
  int cluster_size() const { return cpu::ClusterSize(self); }
  void ClusterArrive(Location at = Location::current()) const { cpu::ClusterArrive(self, at); }
  void ClusterArriveRelaxed(Location at = Location::current()) const { ClusterArrive(at); }
  void ClusterWait(Location at = Location::current()) const { cpu::ClusterWait(self, at); }
  void ClusterSync(Location at = Location::current()) const {
    cpu::ClusterArrive(self, at);
    cpu::ClusterWait(self, at);
  }

  uint32_t MapToRank(uint32_t addr, int rank, Location at = Location::current()) const {
    if (rank < 0 || rank >= cluster_size()) {
      cpu::Fail(self, at, "MapToRank: the cluster has no block of that rank");
    }
    OffsetInWindow(addr, 1, at);
    return addr | static_cast<uint32_t>(rank + 1) << cpu::kClusterRankShift;
  }
  template <class Value>
  Value LoadRemote(uint32_t addr, Location at = Location::current()) const {
    return *reinterpret_cast<const Value*>(RemotePointer<Value>(addr, at));
  }
  template <class Value>
  void StoreRemote(uint32_t addr, Value v, Location at = Location::current()) const {
    *reinterpret_cast<Value*>(RemotePointer<Value>(addr, at)) = v;
  }
  template <class Value>
  void StoreRemoteAsync(uint32_t addr, Value v, uint32_t bar,
                        Location at = Location::current()) const {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) == 16);
    RequireEngines(at);
    if (addr % sizeof(Value) != 0) {
      cpu::Fail(self, at, "StoreRemoteAsync: the address is not a multiple of 16");
    }
    cpu::CopyWork work{};
    work.is_value = true;
    work.bytes = sizeof(Value);
    std::memcpy(work.coordinate, &v, sizeof(Value));
    IssueRemote(work, addr, bar, at);
  }

 protected:
  void RequireEngines(Location at) const {
    if (self->async == nullptr) {
      cpu::Fail(self, at, "the kernel's kRequires.min is below 90, where this operation is new");
    }
  }

  static uint64_t WordAt(const char* p) { return *reinterpret_cast<const uint64_t*>(p); }

  // To the cluster's address `to`, with a barrier of the same block.
  void IssueRemote(cpu::CopyWork& work, uint32_t to, uint32_t bar, Location at) const {
    const cpu::Peer peer = cpu::FindPeer(self, to, work.bytes, at);
    const cpu::Peer peer_bar = cpu::FindPeer(self, bar, 8, at);
    if (peer.block != peer_bar.block) {
      cpu::Fail(self, at, "copy to a cluster: the barrier is not of the block that receives");
    }
    work.target = peer.offset;
    work.generic = peer.generic;
    work.async = peer.async;
    work.poison = &Tma::Poison;
    work.perform = &Tma::Perform;
    const uint64_t word = WordAt(peer_bar.generic + peer_bar.offset);
    cpu::IssueCopy(self, {peer_bar.block, peer_bar.offset, word}, work, at);
  }

 private:
  template <class Value>
  char* RemotePointer(uint32_t addr, Location at) const {
    static_assert(std::is_trivially_copyable_v<Value> && IsAccessSize(sizeof(Value)));
    if (self->preemptive) cpu::Preempt(self);
    if (addr % sizeof(Value) != 0) {
      cpu::Fail(self, at, "shared memory: access not aligned to its size");
    }
    const cpu::Peer peer = cpu::FindPeer(self, addr, sizeof(Value), at);
    return peer.generic + peer.offset;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
