// Barriers and warp collectives: each lane posts what it brings, the last to arrive does the work.
#include <bit>
#include <cstdio>
#include <cstring>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"
#include "weft/gemm/arch/cpu/instructions/cpu_collectives.hpp"

namespace weft::arch::cpu {
namespace {

bool SameLocation(Location a, Location b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

// What tells a collective from another of the same warp: operation, barrier, mask, column. Nothing
// that needs a destructor: a report does not unwind the lane's stack.
struct Difference {
  char text[160];

  Difference(const Collective& c, const Collective& other) {
    char* end = text;
    const auto print = [&](const char* format, auto... values) {
      end += std::snprintf(end, static_cast<size_t>(text + sizeof(text) - end), format, values...);
    };
    print("%s", Name(c.operation));
    const bool barrier =
        c.operation == Operation::kBarrierSync || c.operation == Operation::kBarrierArrive;
    if (barrier && BarrierThreads(c.key) >= 0) {
      print(" of barrier %d over %d threads", BarrierId(c.key), BarrierThreads(c.key));
    }
    if (c.mask != other.mask) print(" with mask 0x%08x", c.mask);
    if (c.at.line() == other.at.line() && c.at.column() != other.at.column()) {
      print(" (column %u)", static_cast<unsigned>(c.at.column()));
    }
  }
};

}  // namespace

uint32_t CheckedMask(Lane* lane, Operation operation, uint32_t mask, Convergence convergence,
                     Location at) {
  const Warp& warp = *lane->warp_state;
  if (convergence == Convergence::kWarp) {
    if (warp.alive != warp.population) {
      FailF(lane, at,
            "divergence: %s needs the whole warp, but its lanes 0x%08x have returned from the "
            "kernel",
            Name(operation), warp.population & ~warp.alive);
    }
    return warp.population;
  }
  if ((mask >> lane->lane & 1) == 0) {
    FailF(lane, at, "%s: the calling lane is not in its own mask 0x%08x", Name(operation), mask);
  }
  return mask & warp.population;
}

Collective& FindOrStart(Lane* lane, const Collective& wanted, Convergence convergence) {
  Warp& warp = *lane->warp_state;
  for (int i = 0; i < warp.pending_count; ++i) {
    Collective& pending = warp.pending[i];
    if ((pending.mask & wanted.mask) == 0) continue;
    const bool same = pending.operation == wanted.operation && pending.key == wanted.key &&
                      pending.mask == wanted.mask &&
                      (convergence == Convergence::kMask || SameLocation(pending.at, wanted.at));
    if (same) return pending;
    FailF(lane, wanted.at, "divergence: %s, but lanes 0x%08x of the same warp are in %s at %s:%u",
          Difference(wanted, pending).text, pending.arrived, Difference(pending, wanted).text,
          pending.at.file_name(), static_cast<unsigned>(pending.at.line()));
  }
  warp.pending[warp.pending_count] = wanted;
  return warp.pending[warp.pending_count++];
}

// --- Barriers
// -------------------------------------------------------------------------------------

namespace {

bool IsFull(const Block& block, const Barrier& barrier) {
  if (barrier.expected >= 0) return barrier.arrived >= barrier.expected;
  return std::popcount(barrier.arrived_warps) >= block.alive_warps;
}

void Open(Block& block, Barrier& barrier) {
  for (uint32_t waiting = barrier.waiting_warps; waiting != 0; waiting &= waiting - 1) {
    Warp& warp = block.warps[std::countr_zero(waiting)];
    MakeRunnable(block, warp, warp.population);
  }
  barrier.arrived = barrier.expected = 0;
  barrier.arrived_warps = barrier.waiting_warps = 0;
  ++barrier.phase;
}

// All lanes of the warp are here. The hardware counts warps too, also those that are not full.
bool WarpArrives(Block& block, Warp& warp, const Collective& collective) {
  Barrier& barrier = block.barriers[BarrierId(collective.key)];
  const int threads = BarrierThreads(collective.key);
  Lane* lane = &warp.lanes[std::countr_zero(collective.arrived)];
  const bool waits = collective.operation == Operation::kBarrierSync;
  if (barrier.arrived > 0 && barrier.expected != threads) {
    FailF(lane, collective.at,
          "barrier %d: used with a count of %d while warps wait there for %d (-1: the whole block)",
          BarrierId(collective.key), threads, barrier.expected);
  }
  if ((barrier.arrived_warps >> warp.index & 1) != 0) {
    FailF(lane, collective.at, "barrier %d: a warp arrives twice before the barrier opened",
          BarrierId(collective.key));
  }
  const bool whole_block = threads < 0;
  if (whole_block && barrier.arrived > 0 && !SameLocation(barrier.at, collective.at)) {
    FailF(lane, collective.at,
          "divergence: SyncThreads, but other warps of the block are in SyncThreads at %s:%u; one "
          "of them has missed a barrier (BarSync joins different lines)",
          barrier.at.file_name(), static_cast<unsigned>(barrier.at.line()));
  }
  if (whole_block && block.alive_warps < block.warp_count && !block.launch->warps_return_early) {
    FailF(
        lane, collective.at,
        "divergence: SyncThreads, but a warp of the block has returned from the kernel; if it may, "
        "say so with kWarpsReturnEarly");
  }
  if (barrier.arrived == 0) barrier.at = collective.at;
  barrier.expected = threads;
  barrier.arrived += kWarpLanes;
  barrier.arrived_warps |= 1u << warp.index;
  if (IsFull(block, barrier)) {
    Open(block, barrier);
    return true;
  }
  if (waits) barrier.waiting_warps |= 1u << warp.index;
  return !waits;
}

void ArriveAtBarrier(Lane* lane, Operation operation, int id, int threads, Location at) {
  if (lane->preemptive) Preempt(lane);
  const int most = (lane->thread_count + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
  if (id < 0 || id >= kBarriers) FailF(lane, at, "barrier %d: ids are 0 to 15", id);
  if (threads >= 0 && (threads == 0 || threads % kWarpLanes != 0 || threads > most)) {
    FailF(lane, at, "barrier %d: a count of %d; it has to be a multiple of 32 from 32 to %d", id,
          threads, most);
  }
  Barrier& barrier = lane->block->barriers[id];
  const uint32_t parity = barrier.phase & 1;
  HandOver(lane);
  Release(&barrier.token[parity]);
  barrier.dependency[parity] |= lane->dependency_met;
  Join(lane, operation, BarrierKey(id, threads), ~0u, Convergence::kWarp, at, &WarpArrives);
  if (operation == Operation::kBarrierSync) {
    Acquire(&barrier.token[parity]);
    lane->dependency_met |= barrier.dependency[parity];
  }
  if (lane->preemptive) Preempt(lane);
}

}  // namespace

void BarrierSync(Lane* lane, int id, int threads, Location at) {
  ArriveAtBarrier(lane, Operation::kBarrierSync, id, threads, at);
}

void BarrierArrive(Lane* lane, int id, int threads, Location at) {
  ArriveAtBarrier(lane, Operation::kBarrierArrive, id, threads, at);
}

// --- Warp exchange
// --------------------------------------------------------------------------------

void SyncWarp(Lane* lane, uint32_t mask, Location at) {
  if (lane->preemptive) Preempt(lane);
  Warp& warp = *lane->warp_state;
  const int first = std::countr_zero(mask | 1u << lane->lane);
  const uint32_t parity = warp.sync_count[first] & 1;
  void* token = &warp.sync_token[first][parity];
  bool* dependency = &warp.sync_dependency[first][parity];
  HandOver(lane);
  Release(token);
  *dependency |= lane->dependency_met;
  Join(lane, Operation::kSyncWarp, 0, mask, Convergence::kMask, at,
       [](Block&, Warp& its_warp, const Collective& c) {
         ++its_warp.sync_count[std::countr_zero(c.mask)];
         return true;
       });
  Acquire(token);
  lane->dependency_met |= *dependency;
  if (lane->preemptive) Preempt(lane);
}

uint64_t Shuffle(Lane* lane, uint32_t mask, uint64_t bits, int source_lane, Location at) {
  if (lane->preemptive) Preempt(lane);
  Warp& warp = *lane->warp_state;
  uint64_t result = 0;
  warp.value[lane->lane] = bits;
  warp.number[lane->lane] = static_cast<uint32_t>(source_lane);
  warp.result[lane->lane] = &result;
  Join(lane, Operation::kShuffle, 0, mask, Convergence::kMask, at,
       [](Block&, Warp& its_warp, const Collective& c) {
         constexpr uint64_t kNobody = 0xBADBAD00BADBAD00ull;  // undefined by the hardware's manual
         for (uint32_t rest = c.arrived; rest != 0; rest &= rest - 1) {
           const int l = std::countr_zero(rest);
           const uint32_t from = its_warp.number[l];
           *static_cast<uint64_t*>(its_warp.result[l]) =
               (c.arrived >> from & 1) != 0 ? its_warp.value[from] : kNobody;
         }
         return true;
       });
  return result;
}

uint32_t Ballot(Lane* lane, uint32_t mask, bool pred, Location at) {
  if (lane->preemptive) Preempt(lane);
  Warp& warp = *lane->warp_state;
  uint32_t result = 0;
  warp.value[lane->lane] = pred;
  warp.result[lane->lane] = &result;
  Join(lane, Operation::kBallot, 0, mask, Convergence::kMask, at,
       [](Block&, Warp& its_warp, const Collective& c) {
         uint32_t votes = 0;
         for (uint32_t rest = c.arrived; rest != 0; rest &= rest - 1) {
           const int l = std::countr_zero(rest);
           votes |= static_cast<uint32_t>(its_warp.value[l]) << l;
         }
         for (uint32_t rest = c.arrived; rest != 0; rest &= rest - 1) {
           *static_cast<uint32_t*>(its_warp.result[std::countr_zero(rest)]) = votes;
         }
         return true;
       });
  return result;
}

// --- Exit
// -----------------------------------------------------------------------------------------

void LaneExits(Lane* lane) {
  Block& block = *lane->block;
  Warp& warp = *lane->warp_state;
  const uint32_t self = 1u << lane->lane;
  if (lane->async != nullptr && warp.alive == warp.population) CheckTensorAtExit(lane);
  if (lane->async != nullptr) CheckStoresAtExit(lane);
  lane->waiting_in = Operation::kExited;
  warp.alive &= ~self;
  MakeWaiting(block, warp, self);
  for (int i = 0; i < warp.pending_count; ++i) {
    Collective& pending = warp.pending[i];
    if ((pending.mask & self) == 0) continue;
    const bool needs_all = pending.operation != Operation::kSyncWarp &&
                           pending.operation != Operation::kShuffle &&
                           pending.operation != Operation::kBallot;
    if (needs_all) {
      FailF(lane, pending.at,
            "divergence: a lane returned from the kernel while lanes 0x%08x of its warp wait for "
            "it in %s",
            pending.arrived, Name(pending.operation));
    }
    if (pending.arrived == (pending.mask & warp.alive)) {
      const uint32_t lanes = pending.arrived;
      if (Finish(block, warp, pending)) MakeRunnable(block, warp, lanes);
      --i;  // another one took its place in the list
    }
  }
  if (warp.alive != 0) return;
  --block.alive_warps;
  WarpLeavesCluster(block, warp);
  if (block.alive_warps == 0) CheckBlockAtExit(lane);
  Barrier& whole_block = block.barriers[0];
  if (whole_block.arrived > 0 && whole_block.expected < 0 && !block.launch->warps_return_early) {
    FailF(
        lane, whole_block.at,
        "divergence: a warp returned from the kernel while others wait in SyncThreads; if it may, "
        "say so with kWarpsReturnEarly");
  }
  if (whole_block.arrived > 0 && whole_block.expected < 0 && block.alive_warps > 0 &&
      IsFull(block, whole_block)) {
    Open(block, whole_block);
  }
}

}  // namespace weft::arch::cpu
