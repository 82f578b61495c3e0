// Tiles as types, for policies that are templates over them (conv/ready_made.hpp): Tile64x64,
// Mma128x64, Wgmma128x256, Depthwise7x8, Fused7x3x16 and the other rows of the table of tiles,
// gemm/tile/tiles.def and conv/policy/tiles.def. A struct of your own with a static constexpr
// `config` serves as well.
#pragma once

#include "weft/conv/policy/depthwise_pointwise_policy.hpp"
#include "weft/conv/policy/policy.hpp"

namespace weft::conv {

#define WEFT_TILE(type, value, ...)                                     \
  struct type {                                                         \
    [[gnu::visibility("hidden")]] static constexpr auto config = value; \
  };
#include "weft/gemm/tile/tiles.def"
#define WEFT_TILE(type, value, ...)                                     \
  struct type {                                                         \
    [[gnu::visibility("hidden")]] static constexpr auto config = value; \
  };
#include "weft/conv/policy/tiles.def"

}  // namespace weft::conv
