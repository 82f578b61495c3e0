// Convolutions through the warpgroup products of sm_90a whose tiles hold two output rows.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/run_random.hpp"
#include "tests/conv/wgmma_policies.hpp"

namespace weft::conv {

namespace {

using epilogues::BiasRelu;

template <class TileT>
struct Stacked {
  static constexpr auto config = WithStack(TileT::config, 2);
};
using Stacked32 = Stacked<WgmmaTile<32, 64, 64, 32, 64, 2>>;

// Even and odd numbers of output rows, one of them; few channels and all; channels of several
// blocks; filters of every height, with strides that divide it and others.
template <class P>
void RunStacked(std::int64_t multiple_c = 1, std::int64_t multiple_k = 1) {
  const reference::ReluActivation relu;
  for (std::int64_t r = 2; r <= 5; ++r) {
    for (std::int64_t stride = 1; stride <= 2; ++stride) {
      if (r <= stride) continue;
      const std::int64_t k = std::array{32, 5, 1, 17}[r - 2];
      Problem p = SquareProblem(2, 40, 7, RoundUp(k, multiple_k), r, r / 2, stride);
      p.c = RoundUp(p.c, multiple_c);
      p.w = 10, p.s = 3, p.stride_w = 1;
      ExpectMatchesReference<P>(p, relu);
      p.h = 8, p.pad_top = 0;
      ExpectMatchesReference<P>(p, relu);
      p.mode = Mode::kConvolution;
      p.pad_left = 0, p.stride_w = stride, p.n = 1;
      ExpectMatchesReference<P>(p, relu);
      p.h = r, p.pad_bottom = 0;  // one output row
      ExpectMatchesReference<P>(p, relu);
    }
  }
}

TEST(WgmmaStack, Nc32ToNc32) {
  RunStacked<WgmmaPolicy<NCxHWx<32>, BiasRelu<>, Stacked32>>();
}

TEST(WgmmaStack, Nc32ToOthers) {
  RunStacked<WgmmaPolicy<NCxHWx<4>, BiasRelu<>, Stacked<WgmmaTile<24, 64, 32, 24, 64, 2, 4>>>>();
  RunStacked<WgmmaPolicy<NCxHWx<64>, BiasRelu<>, Stacked32>>();
  RunStacked<WgmmaPolicy<NHWC, BiasRelu<>, Stacked<WgmmaTile<64, 64, 64, 32, 64, 2, 16>>>>(1, 16);
  RunStacked<WgmmaPolicy<NHWC, BiasRelu<>, Stacked<WgmmaTile<16, 64, 64, 16, 64, 1, 1>>>>();
  RunStacked<WgmmaPolicy<NCHW, BiasRelu<>, Stacked<WgmmaTile<8, 64, 64, 8, 64, 2, 1>>>>();
}

TEST(WgmmaStack, Nhwc) {
  RunStacked<WgmmaNhwcPolicy<NHWC, BiasRelu<>, Stacked32>>(16, 16);
  RunStacked<WgmmaNhwcPolicy<NCxHWx<32>, BiasRelu<>, Stacked<WgmmaTile<48, 64, 128, 48, 64>>>>(16);
}

}  // namespace
}  // namespace weft::conv
