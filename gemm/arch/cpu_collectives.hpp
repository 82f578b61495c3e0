// How a lane takes part in a warp-wide operation. Private to the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>

#include "weft/gemm/arch/cpu_block.hpp"

namespace weft::arch::cpu {

// Who has to come together.
enum class Convergence {
  kMask,  // the lanes of the mask that still run; from different lines if they like
  kWarp,  // every lane of the warp, from one line (`.aligned` in PTX); the mask is ignored
};

// Blocks the lane until all have come and `complete` has run, in the last one's name. Operations
// of a lane's warp that share lanes but differ in operation, key or mask are divergence, and end
// the launch.
void Join(Lane* lane, Operation operation, int key, uint32_t mask, Convergence convergence,
          Location at, bool (*complete)(Block&, Warp&, const Collective&));

}  // namespace weft::arch::cpu
