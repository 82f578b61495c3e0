// Outputs of 4 bits where they are stored by TMA.
// EXPECT: static assertion failed: weft: the wgmma_sm90 mainloop and depthwise convolutions have no outputs of PairedInt4
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCxHWx<32>;
  using FilterLayout = weft::CxRSKx<32>;
  using DstLayout = weft::PairedInt4<weft::NCxHWx<64>>;
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::ClampTo<std::int8_t, -8, 7>>;
  static constexpr auto config = weft::conv::kWgmma64x64;
};

auto op = weft::conv::Convolution<Mine>::Create({});
