// Who runs next, and getting there. Private to the runtime (cpu_*.cpp).
//
// What every waiting lane goes through is inline: a jump to another stack makes the processor
// mispredict the returns that follow it, so there should be few.
#pragma once

#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>

#include "weft/gemm/arch/cpu/executor/cpu_block.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_sanitizers.hpp"

namespace weft::arch::cpu {

namespace context = boost::context::detail;

// Gives the warps of a new block their ranks and directions.
void Prepare(Block& block, const CpuOptions& options);

// The lane starts at the kernel's first line when it is switched to next.
void MakeFresh(Lane* lane);

// Runs the prepared blocks of a cluster, of fresh lanes; returns when they have ended or one has
// failed.
void Enter(Cluster& cluster);
[[noreturn]] void LeaveToWorker(Block& block);

// The lane to run after `current` (null at the start); null if none can run. The engines work when
// no lane can, and now and then before.
Lane* PickFromAll(Block& block, const Lane* current);
inline Lane* PickNext(Block& block, const Lane* current) {
  if (block.schedule == Schedule::kForward && current != nullptr) {
    const Warp& warp = *current->warp_state;
    const uint32_t above = warp.runnable & (~1u << current->lane);
    if (above != 0) return &warp.lanes[std::countr_zero(above)];
  }
  return PickFromAll(block, current);
}

// Returns when another lane switches back.
inline void SwitchTo(Block& block, Lane* from, Lane* to) {
  if (from == to) return;
  ++block.stats.switches;
  from->context.target = to;
  StartSwitch(&from->context, to->context);
  const context::transfer_t arrived = context::jump_fcontext(to->context.fcontext, &from->context);
  static_cast<Context*>(arrived.data)->fcontext = arrived.fctx;
  FinishSwitch(&from->context, nullptr);
}

// Stops the lane until someone makes it runnable.
inline void Wait(Lane* lane, Operation operation, int key, Location at) {
  Block& block = *lane->block;
  lane->waiting_in = operation;
  lane->waiting_key = key;
  lane->waiting_at = at;
  MakeWaiting(block, *lane->warp_state, 1u << lane->lane);
  Lane* next = PickNext(block, lane);
  if (next == nullptr) FailDeadlock(lane);
  SwitchTo(block, lane, next);
}

}  // namespace weft::arch::cpu
