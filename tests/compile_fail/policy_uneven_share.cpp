// Eight warps, whose threads are more than a k tile of the source has pieces for.
// EXPECT: static assertion failed: weft: the block's threads that share a row of the source must divide
// its pieces of config.threadblock.k; make that larger, or take fewer warps
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  using SrcLayout = weft::PairedInt4<weft::NCxHWx<64>>;
  using FilterLayout = weft::PackedInt4<weft::CxRSKx<32>>;
  static constexpr auto config = weft::conv::MmaSm80Config({32, 32, 128}, {16, 16, 64}, 3, 4);
};

auto status = weft::conv::Convolution<Mine>::Create({}).value().RunOnCpu({});
