// A k tile of 512 KB.
// EXPECT: static assertion failed: weft: two k tiles of config.threadblock of a wgmma_sm90 GEMM do not fit in shared
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  static constexpr weft::gemm::WgmmaSm90Config config{{128, 128, 2048}, {128, 64, 2048}};
};

auto op = weft::gemm::Gemm<Mine>::Create({});
