// A chain of two mainloops, whose sums lie differently.
// EXPECT: static assertion failed: weft: sums become operand A in registers with config.mainloop = kMmaSm80, or kWgmmaSm90, in both products
// MAX_ERRORS: 2
#include "tests/compile_fail/block_base.hpp"

struct Other : BlockBase {
  static constexpr weft::gemm::BlockConfig config{.shape = {64, 64, 64},
                                                  .mainloop = weft::gemm::Mainloop::kWgmmaSm90,
                                                  .threads = 128,
                                                  .alignment = 16,
                                                  .whole_rows = true};
};
using First = weft::gemm::Block<BlockBase>;

void Use(weft::arch::Thread t, const First::Accumulators& sums) {
  weft::gemm::Block<Other>::FromAccumulators<First>(t, sums, weft::Half::FromFloat);
}
