// Clusters, dependent launch, and the registers that setmaxnreg moves about.
#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_collectives.hpp"

namespace weft::arch::cpu {
namespace {

// All warps that are alive have arrived: those that wait go on.
void OpenIfFull(Cluster& cluster) {
  if (cluster.arrived_warps < cluster.alive_warps || cluster.arrived_warps == 0) return;
  cluster.arrived_warps = 0;
  ++cluster.phase;
  for (Block* block : cluster.blocks) {
    for (int w = 0; w < block->warp_count; ++w) {
      Warp& warp = block->warps[w];
      if (warp.waits_for_cluster) MakeRunnable(*block, warp, warp.population);
      warp.waits_for_cluster = false;
    }
  }
}

bool WarpArrivesAtCluster(Block& block, Warp& warp, const Collective& collective) {
  if (warp.cluster_arrivals != warp.cluster_waits) {
    FailF(&warp.lanes[0], collective.at, "ClusterArrive: a warp arrives twice without ClusterWait");
  }
  ++warp.cluster_arrivals;
  ++block.cluster->arrived_warps;
  OpenIfFull(*block.cluster);
  return true;
}

bool WarpWaitsForCluster(Block& block, Warp& warp, const Collective& collective) {
  if (warp.cluster_arrivals == warp.cluster_waits) {
    FailF(&warp.lanes[0], collective.at, "ClusterWait: the warp has not arrived");
  }
  ++warp.cluster_waits;
  warp.waits_for_cluster = block.cluster->phase < warp.cluster_waits;
  return !warp.waits_for_cluster;
}

// Gives registers to warps that wait for them, as far as there are any.
void ServeRegisters(Block& block) {
  Async& async = *block.async;
  for (int w = 0; w < block.warp_count; ++w) {
    if (async.registers_wanted[w] == 0) continue;
    int used = 0;
    for (int other = 0; other < block.warp_count; ++other) {
      if (other != w) used += async.registers[other];
    }
    if (used + async.registers_wanted[w] > async.register_budget) continue;
    async.registers[w] = async.registers_wanted[w];
    async.registers_wanted[w] = 0;
    MakeRunnable(block, block.warps[w], block.warps[w].population);
  }
}

constexpr int kIncrease = 1 << 16;  // in a collective's key, with the number of registers

bool WarpSetsRegisters(Block& block, Warp& warp, const Collective& collective) {
  Async& async = *block.async;
  const int wanted = collective.key & (kIncrease - 1);
  const bool increase = (collective.key & kIncrease) != 0;
  int& now = async.registers[warp.index];
  if (increase ? wanted < now : wanted > now) {
    FailF(&warp.lanes[0], collective.at, "setmaxnreg.%s: from %d registers to %d",
          increase ? "inc" : "dec", now, wanted);
  }
  if (!increase) now = wanted;
  if (increase) async.registers_wanted[warp.index] = wanted;
  ServeRegisters(block);
  return async.registers_wanted[warp.index] == 0;
}

bool IsConstant(const Lane* lane, const void* p, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  for (const MemoryRange& range : lane->block->launch->attributes.constant) {
    const auto begin = reinterpret_cast<uintptr_t>(range.begin);
    if (address >= begin && address + bytes <= begin + range.bytes) return true;
  }
  return false;
}

}  // namespace

void WarpLeavesCluster(Block& block, Warp& warp) {
  Cluster& cluster = *block.cluster;
  --cluster.alive_warps;
  if (warp.cluster_arrivals > cluster.phase) --cluster.arrived_warps;  // did not wait for the rest
  OpenIfFull(cluster);
  if (block.alive_warps == 0) --cluster.alive_blocks;
}

int ClusterRank(const Lane* lane) {
  return lane->block->rank;
}
int ClusterSize(const Lane* lane) {
  return static_cast<int>(lane->block->cluster->blocks.size());
}

void ClusterArrive(Lane* lane, Location at) {
  if (lane->preemptive) Preempt(lane);
  HandOver(lane);
  Cluster& cluster = *lane->block->cluster;
  const auto parity = lane->warp_state->cluster_arrivals & 1;
  Release(&cluster.token[parity]);
  cluster.dependency[parity] |= lane->dependency_met;
  Join(lane, Operation::kClusterArrive, 0, ~0u, Convergence::kWarp, at, &WarpArrivesAtCluster);
}

void ClusterWait(Lane* lane, Location at) {
  Cluster& cluster = *lane->block->cluster;
  const auto parity = lane->warp_state->cluster_waits & 1;
  Join(lane, Operation::kClusterWait, 0, ~0u, Convergence::kWarp, at, &WarpWaitsForCluster);
  Acquire(&cluster.token[parity]);
  lane->dependency_met |= cluster.dependency[parity];
  if (lane->preemptive) Preempt(lane);
}

Peer FindPeer(Lane* lane, uint32_t addr, size_t bytes, Location at) {
  const auto rank = static_cast<int>(addr >> kClusterRankShift) - 1;
  const std::vector<Block*>& blocks = lane->block->cluster->blocks;
  const size_t offset = size_t{addr & ((1u << kClusterRankShift) - 1)} - kSharedWindow;
  if (rank >= static_cast<int>(blocks.size())) {
    FailF(lane, at, "cluster: no block has the rank %d of this address", rank);
  }
  Block* block = rank < 0 ? lane->block : blocks[rank];  // an own address is the cluster's too
  if (offset > lane->shared_bytes || lane->shared_bytes - offset < bytes) {
    FailF(lane, at, "cluster: the address is outside the shared memory of the block of rank %d",
          block->rank);
  }
  if (!block->has_started) {
    FailF(
        lane, at,
        "cluster: the block of rank %d may not have started; ClusterSync before its shared memory "
        "is touched",
        block->rank);
  }
  if (block->alive_warps == 0) {
    FailF(lane, at,
          "cluster: the block of rank %d has returned, and its shared memory is gone; ClusterSync "
          "before it does",
          block->rank);
  }
  return {block, block->shared_base, block->async_base, static_cast<uint32_t>(offset)};
}

void SetMaxReg(Lane* lane, int registers, bool increase, Location at) {
  if (lane->thread_count < (lane->warp / 4 + 1) * 4 * kWarpLanes) {
    FailF(lane, at, "setmaxnreg needs a whole warpgroup of 128 threads");
  }
  Join(lane, Operation::kSetMaxReg, registers | (increase ? kIncrease : 0), ~0u, Convergence::kWarp,
       at, &WarpSetsRegisters);
}

uint32_t Elect(Lane* lane, Location at) {
  if (lane->preemptive) Preempt(lane);
  Join(lane, Operation::kElect, 0, ~0u, Convergence::kWarp, at,
       [](Block&, Warp&, const Collective&) { return true; });
  return 1;
}

void WaitForEarlierGrids(Lane* lane) {
  lane->dependency_met = true;
  lane->block->dependency_met = true;
}

void CheckEarlyAccess(Lane* lane, const void* p, size_t bytes, bool is_store, Location at) {
  if (!is_store && IsConstant(lane, p, bytes)) return;
  FailF(lane, at,
        "dependent launch: global memory is %s before WaitForEarlierGrids, and the launch does not "
        "call it constant",
        is_store ? "written" : "read");
}

void CheckReadOnlyLoad(Lane* lane, const void* p, size_t bytes, Location at) {
  if (IsConstant(lane, p, bytes)) return;
  FailF(lane, at,
        "dependent launch: LoadGlobal takes the read-only path, which may still hold what earlier "
        "grids have overwritten; LoadGlobalCoherent does not");
}

void CheckBlockAtExit(Lane* lane) {
  Block& block = *lane->block;
  if (block.launch->attributes.dependent && !block.dependency_met) {
    FailF(lane, lane->waiting_at,
          "dependent launch: the block has returned without WaitForEarlierGrids, so that later "
          "kernels may start before earlier ones have ended");
  }
  if (block.async == nullptr) return;
  Async& async = *block.async;
  LandValues(block);
  if (!async.copies.empty()) {
    const Copy& copy = *async.copies.front();
    FailF(copy.lane, copy.at,
          "the block has returned while this copy is in flight: nobody has waited for it");
  }
  for (int w = 0; w + 3 < block.warp_count; w += 4) {
    for (int i = 1; i < 4; ++i) {
      if (async.registers[w + i] == async.registers[w]) continue;
      FailF(lane, lane->waiting_at,
            "setmaxnreg: the warps of warpgroup %d ended with %d and %d registers", w / 4,
            async.registers[w], async.registers[w + i]);
    }
  }
}

}  // namespace weft::arch::cpu
