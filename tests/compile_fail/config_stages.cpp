// A config without its stages.
// EXPECT: static assertion failed: weft: MmaSm80Config\(threadblock, warp, stages\) needs its stages
// MAX_ERRORS: 3
#include "weft/gemm/tile/config.hpp"

constexpr weft::gemm::MmaSm80Config kNamed({.threadblock = {64, 64, 64},
                                            .warp = {32, 32, 64},
                                            .stages = 4});
static_assert(kNamed.stages == weft::gemm::kMma64x64.stages && kNamed.alignment.dst == 8);
constexpr weft::gemm::MmaSm80Config kConfig({64, 64, 64}, {32, 32, 64});
