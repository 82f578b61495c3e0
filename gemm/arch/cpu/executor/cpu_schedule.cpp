// Who runs next, and getting there.
#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

#include <bit>
#include <utility>

#include "weft/gemm/arch/cpu/executor/cpu_async.hpp"

namespace weft::arch::cpu {
namespace {

uint32_t RotateRight(uint32_t bits, int by) {
  return std::rotr(bits, by);
}

// The first set bit of `bits` (not 0) going up from `from` cyclically, or going down.
int NextBit(uint32_t bits, int from, bool descending) {
  from &= 31;
  if (!descending) return (std::countr_zero(RotateRight(bits, from)) + from) & 31;
  return (from - std::countl_zero(RotateRight(bits, from + 1))) & 31;
}

// For a lane that has returned from the kernel.
[[noreturn]] void SwitchForGood(Block& block, Lane* from, Lane* to) {
  ++block.stats.switches;
  from->context.target = to;
  StartSwitch(nullptr, to->context);
  context::jump_fcontext(to->context.fcontext, &from->context);
  __builtin_unreachable();
}

// The whole life of a lane in one block.
void LaneMain(context::transfer_t arrived) {
  auto* from = static_cast<Context*>(arrived.data);
  from->fcontext = arrived.fctx;
  Lane* lane = from->target;
  Block& block = *lane->block;
  // Only the first lane is entered from the worker's stack; ASan wants its bounds for the way back.
  Context& worker = block.cluster->worker;
  FinishSwitch(nullptr, from == &worker ? &worker : nullptr);

  lane->waiting_in = Operation::kNone;
  block.has_started = true;
  Acquire(&block.start_token);
  block.launch->entry(block.launch->params, lane->shared_base, lane);
  Release(&block.end_token);

  LaneExits(lane);
  if (block.cluster->alive_blocks == 0) LeaveToWorker(block);
  Lane* next = PickNext(block, lane);
  if (next == nullptr) FailDeadlock(lane);
  SwitchForGood(block, lane, next);
}

}  // namespace

void Prepare(Block& block, const CpuOptions& options) {
  block.schedule = options.schedule;
  // Distinct blocks draw distinct sequences; the constants are odd, so no seed maps to 0 for all.
  block.random = options.seed * 0x9E3779B97F4A7C15ull + static_cast<uint64_t>(block.index.x) * 131 +
                 static_cast<uint64_t>(block.index.y) * 8191 +
                 static_cast<uint64_t>(block.index.z) * 524287;
  if (block.random == 0) block.random = 1;
  for (int i = 0; i < 4; ++i) NextRandom(block);

  for (int w = 0; w < block.warp_count; ++w) {
    block.warp_of_rank[w] = w;
    block.warps[w].descending = options.schedule == Schedule::kReverse;
  }
  if (options.schedule == Schedule::kPriority) {
    for (int w = block.warp_count - 1; w > 0; --w) {
      std::swap(block.warp_of_rank[w], block.warp_of_rank[NextRandom(block) % (w + 1)]);
    }
    for (int w = 0; w < block.warp_count; ++w) {
      block.warps[w].descending = (NextRandom(block) >> 32 & 1) != 0;
    }
  }
  for (int r = 0; r < block.warp_count; ++r) block.warps[block.warp_of_rank[r]].rank = r;
}

namespace {

Lane* PickFromBlock(Block& block, const Lane* current) {
  if (block.ready == 0) return nullptr;
  switch (block.schedule) {
    case Schedule::kForward:
    case Schedule::kReverse: {
      // Stay in the warp while it has work, then go to its neighbour.
      const bool descending = block.schedule == Schedule::kReverse;
      const int step = descending ? -1 : 1;
      const int first_lane = descending ? kWarpLanes - 1 : 0;
      if (current != nullptr) {
        const Warp& warp = block.warps[current->warp];
        if (warp.runnable != 0) {
          return &warp.lanes[NextBit(warp.runnable, current->lane + step, descending)];
        }
      }
      const int from = current != nullptr ? current->warp + step : first_lane;
      const Warp& warp = block.warps[NextBit(block.ready, from, descending)];
      return &warp.lanes[NextBit(warp.runnable, first_lane, descending)];
    }
    case Schedule::kPriority: {
      Warp& warp = block.warps[block.warp_of_rank[std::countr_zero(block.ready)]];
      const int step = warp.descending ? -1 : 1;
      const int from = current != nullptr ? current->lane + step : 0;
      return &warp.lanes[NextBit(warp.runnable, from, warp.descending)];
    }
    case Schedule::kRandom: {
      const uint64_t random = NextRandom(block);
      const int rank = NextBit(block.ready, static_cast<int>(random >> 32 & 31), false);
      Warp& warp = block.warps[block.warp_of_rank[rank]];
      return &warp.lanes[NextBit(warp.runnable, static_cast<int>(random >> 40 & 31), false)];
    }
  }
  return nullptr;
}

// A lane of any block of the cluster: of the current one while it has work, or at random.
Lane* PickFromCluster(Block& block, const Lane* current) {
  const std::vector<Block*>& blocks = block.cluster->blocks;
  const auto count = static_cast<int>(blocks.size());
  if (count == 1) return PickFromBlock(block, current);
  const bool random = block.schedule == Schedule::kRandom;
  const int step = block.schedule == Schedule::kReverse ? count - 1 : 1;
  int rank = random ? static_cast<int>((NextRandom(block) >> 33) % count) : block.rank;
  for (int i = 0; i < count; ++i, rank = (rank + step) % count) {
    Block& other = *blocks[rank];
    if (Lane* lane = PickFromBlock(other, &other == &block ? current : nullptr)) return lane;
  }
  return nullptr;
}

bool ClusterEngineStep(Block& block, bool useful_only) {
  for (Block* other : block.cluster->blocks) {
    if (EngineStep(*other, useful_only)) return true;
  }
  return false;
}

}  // namespace

Lane* PickFromAll(Block& block, const Lane* current) {
  if (block.async == nullptr) return PickFromCluster(block, current);
  const uint64_t early = block.async->early_one_in;
  if (early != 0 && (NextRandom(block) >> 32) % early == 0) ClusterEngineStep(block, false);
  for (;;) {
    Lane* next = PickFromCluster(block, current);
    if (next != nullptr || !ClusterEngineStep(block, true)) return next;
  }
}

void Enter(Cluster& cluster) {
  Context& worker = cluster.worker;
  Block& block = *cluster.blocks.front();
  Lane* first = PickFromBlock(block, nullptr);
  worker.target = first;
  StartSwitch(&worker, first->context);
  context::jump_fcontext(first->context.fcontext, &worker);
  FinishSwitch(&worker, nullptr);
}

void LeaveToWorker(Block& block) {
  StartSwitch(nullptr, block.cluster->worker);
  context::jump_fcontext(block.cluster->worker.fcontext, nullptr);
  __builtin_unreachable();
}

void MakeFresh(Lane* lane) {
  // Stacks of one page alignment would put the hot frames of all lanes into the same cache sets.
  constexpr size_t kStagger = 192;
  constexpr size_t kSteps = 20;
  const size_t shift = static_cast<size_t>(lane->tid) % kSteps * kStagger;
  char* low = static_cast<char*>(const_cast<void*>(lane->context.stack_low));
  const size_t usable = lane->context.stack_bytes - shift;
  lane->context.fcontext = context::make_fcontext(low + usable, usable, &LaneMain);
}

void Preempt(Lane* lane) {
  Block& block = *lane->block;
  constexpr uint64_t kOneIn = 16;
  if (NextRandom(block) % kOneIn != 0) return;
  SwitchTo(block, lane, PickNext(block, lane));  // not null: the lane itself can run
}

}  // namespace weft::arch::cpu
