// The plan, made by the host for a launch, that directs the wgmma_sm90 mainloop (wgmma_sm90.hpp).
#pragma once

#include <cstdint>

#include "weft/layouts/base/compiler.hpp"

namespace weft::gemm {

// All addresses and offsets are in units of 16 bytes, as in matrix descriptors.
struct WgmmaPlan {
  static constexpr int kMostSteps = 64;

  std::uint64_t a = 0, b = 0;        // descriptors of the operands, for address 0
  std::uint32_t group_rows[4] = {};  // where the rows of each warpgroup of a tile begin
  std::uint32_t b_block = 0;         // from 64 columns to the next 64
  std::int32_t steps = 0;            // steps of a k tile
  std::int32_t last_steps = 0;       // of the last k tile
  // Where each step's rows, and its columns, begin in the stage. Where descriptor `a` leaves that
  // open, bits 16 and up say how far the second 16 bytes of k lie from the first.
  std::uint32_t step_a[kMostSteps] = {}, step_b[kMostSteps] = {};

  // Places the warpgroups' rows at intervals of `step`.
  constexpr void SpreadGroups(std::uint32_t step) {
    for (std::uint32_t i = 0; i < 4; ++i) group_rows[i] = i * step;
  }
};

}  // namespace weft::gemm
