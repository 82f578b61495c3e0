// Which tensors of a plan share memory.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/network/plan/plan.hpp"

namespace weft::network {

inline constexpr std::int64_t kArenaAlignment = 256;  // bytes

// Sets the offset of each tensor that lies in the arena, and arena_bytes: two tensors overlap only if no step needs
// both, or if they are the `other` and the `dst` of one step that may be one (a residual that is added in place, and
// that nobody reads later). The largest tensors are placed first, each at the lowest offset that is free.
void PlaceInArena(Plan* plan);

}  // namespace weft::network
