// How a lane takes part in a warp-wide operation. Private to the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>

#include "weft/gemm/arch/cpu/executor/cpu_block.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_schedule.hpp"

namespace weft::arch::cpu {

// Who has to come together.
enum class Convergence {
  kMask,  // the lanes of the mask that still run; from different lines if they like
  kWarp,  // every lane of the warp, from one line (`.aligned` in PTX); the mask is ignored
};

// The mask as it counts; ends the launch if the lane cannot take part.
uint32_t CheckedMask(Lane* lane, Operation operation, uint32_t mask, Convergence convergence,
                     Location at);

// The pending collective that the lane joins, new if it is the first. Operations of a warp that
// share lanes but differ in operation, key, mask or (kWarp) line are divergence, and end the
// launch.
Collective& FindOrStart(Lane* lane, const Collective& wanted, Convergence convergence);

// Takes the collective off the warp's list and does its work. True if its lanes may go on.
inline bool Finish(Block& block, Warp& warp, Collective& pending) {
  const Collective done = pending;
  pending = warp.pending[--warp.pending_count];
  ++block.stats.collectives;
  return done.complete(block, warp, done);
}

// Blocks the lane until all have come and `complete` has run, in the last one's name. Inline for
// the reason that cpu_schedule.hpp gives.
__attribute__((always_inline)) inline void Join(Lane* lane, Operation operation, int key,
                                                uint32_t mask, Convergence convergence, Location at,
                                                bool (*complete)(Block&, Warp&,
                                                                 const Collective&)) {
  Block& block = *lane->block;
  Warp& warp = *lane->warp_state;
  mask = CheckedMask(lane, operation, mask, convergence, at);
  Collective& pending = FindOrStart(lane, {operation, key, mask, 0, at, complete}, convergence);
  pending.arrived |= 1u << lane->lane;
  if (pending.arrived == (pending.mask & warp.alive)) {
    const uint32_t lanes = pending.arrived;
    if (Finish(block, warp, pending)) {
      MakeRunnable(block, warp, lanes);
      return;
    }
  }
  Wait(lane, operation, key, at);
}

}  // namespace weft::arch::cpu
