// A block while it runs: warps, barriers, and who may run next. Private to the runtime (cpu_*.cpp).
//
// Lanes switch symmetrically: a lane that has to wait picks the next one that can run and jumps
// straight into it (cpu_schedule.hpp). The worker's own context is entered when the block has ended
// or failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_options.hpp"

namespace weft::arch::cpu {

inline constexpr int kWarpLanes = 32;
inline constexpr int kMaxWarps = 32;
inline constexpr int kBarriers = 16;

// A collective that some lanes of a warp have reached and others have not.
struct Collective {
  Operation operation = Operation::kNone;
  int key = 0;           // what else must agree: BarrierKey
  uint32_t mask = 0;     // the lanes that take part
  uint32_t arrived = 0;  // those that are here
  Location at{};         // where the first one called from
  // Does the work for all lanes of `arrived`. False: they have to wait on (for other warps).
  bool (*complete)(Block& block, Warp& warp, const Collective& collective) = nullptr;
};

struct Warp {
  int index = 0;
  int rank = 0;             // precedence under kPriority; the bit of this warp in Block::ready
  bool descending = false;  // which way the schedule goes through the lanes
  uint32_t population = 0;  // lanes that exist
  uint32_t alive = 0;       // those that have not returned from the kernel
  uint32_t runnable = 0;    // those that do not wait for anything
  Lane* lanes = nullptr;    // [32]

  // Disjoint subsets of a warp may be in different collectives.
  int pending_count = 0;
  Collective pending[kWarpLanes];

  // What the lanes of a pending collective have posted: pointers into their stacks, or values.
  const void* operand[3][kWarpLanes];
  void* result[kWarpLanes];
  uint64_t value[kWarpLanes];
  uint32_t number[kWarpLanes];

  // SyncWarp's tokens, by the mask's lowest lane and by parity of its uses.
  uint32_t sync_count[kWarpLanes];
  char sync_token[kWarpLanes][2];
  bool sync_dependency[kWarpLanes][2];  // someone had waited for earlier grids

  int64_t cluster_arrivals = 0;  // ClusterArrive and ClusterWait so far
  int64_t cluster_waits = 0;
  bool waits_for_cluster = false;
};

struct Barrier {
  int expected = 0;  // threads; 0: nobody has arrived; -1: all warps that are alive
  int arrived = 0;   // threads, in whole warps
  uint32_t arrived_warps = 0;
  uint32_t waiting_warps = 0;
  uint32_t phase = 0;
  Location at{};  // of the first to arrive
  char token[2];  // by parity of the phase
  bool dependency[2];
};

// A barrier's key as a collective: its id and count (-1: the whole block).
constexpr int BarrierKey(int id, int threads) {
  return id << 16 | (threads + 1);
}
constexpr int BarrierId(int key) {
  return key >> 16;
}
constexpr int BarrierThreads(int key) {
  return (key & 0xFFFF) - 1;
}

// The accesses of one lane, for counting bank conflicts and sectors.
struct Access {
  const char* file;
  uint32_t line;
  uint32_t column;
  uint64_t address;
  int16_t bytes;
  bool is_store;
};
struct AccessLog {
  std::vector<Access> shared;
  std::vector<Access> loads;  // of global memory
  std::vector<Access> stores;
};

struct Failure {
  bool happened = false;
  Lane* lane = nullptr;  // null if no lane can be blamed; `at` means nothing then
  Location at{};
  char rule[512];
};

// Blocks that run side by side on one worker; without clusters there is one.
struct Cluster {
  std::vector<Block*> blocks;  // by rank
  int alive_blocks = 0;
  int alive_warps = 0;
  int arrived_warps = 0;  // in the current phase of the cluster's barrier
  int64_t phase = 0;
  char token[2];
  bool dependency[2];
  Context worker;  // of the code that called Enter
};

struct Block {
  Dim3 index{};
  Cluster* cluster = nullptr;
  int rank = 0;                 // in the cluster
  bool has_started = false;     // some lane has
  bool dependency_met = false;  // some lane has waited for earlier grids
  Async* async = nullptr;       // null unless the kernel is for sm_90
  char* shared_base = nullptr;
  char* async_base = nullptr;
  const GridLaunch* launch = nullptr;
  Schedule schedule = Schedule::kForward;
  uint64_t random = 1;  // state of the generator; never 0

  int warp_count = 0;
  int alive_warps = 0;
  uint32_t ready = 0;  // ranks of the warps with a runnable lane
  Warp* warps = nullptr;
  int warp_of_rank[kMaxWarps];
  Barrier barriers[kBarriers];

  Failure failure;
  CpuStats stats;

  // Separate, or the end of one lane would order it before the start of another.
  char start_token;
  char end_token;
};

// A uniformly distributed 64-bit number (xorshift64*).
inline uint64_t NextRandom(Block& block) {
  uint64_t& x = block.random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return x * 0x2545F4914F6CDD1Dull;
}

// Lanes of the warp become able to run, or stop being so.
inline void MakeRunnable(Block& block, Warp& warp, uint32_t lanes) {
  warp.runnable |= lanes;
  if (warp.runnable != 0) block.ready |= 1u << warp.rank;
}
inline void MakeWaiting(Block& block, Warp& warp, uint32_t lanes) {
  warp.runnable &= ~lanes;
  if (warp.runnable == 0) block.ready &= ~(1u << warp.rank);
}

// cpu_failure.cpp
[[noreturn]] void FailF(Lane* lane, Location at, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
[[noreturn]] void FailDeadlock(Lane* lane);
const char* Name(Operation operation);
std::string Describe(const Block& block);  // the text of CpuReport::error

// cpu_collectives.cpp
void LaneExits(Lane* lane);  // before the lane's last switch

// cpu_cluster.cpp
void WarpLeavesCluster(Block& block, Warp& warp);
void CheckBlockAtExit(Lane* lane);  // the block's last

// cpu_access_counts.cpp
void CountAccesses(const std::vector<AccessLog>& logs, CpuStats* stats);  // a log per lane

}  // namespace weft::arch::cpu
