// The tiles of perf/tiles.def on the CPU against the reference: every tile of simt, and the basic ones
// of all layouts, where each epilogue meets each layout.
#include <gtest/gtest.h>

#include "perf/weft_perf/tiles.hpp"
#include "tests/conv/harness.hpp"

namespace weft::perf {
namespace {

template <class P, class Activation = reference::ReluActivation>
void Exact(const conv::Problem& problem, Activation activation = {}) {
  conv::ExpectMatchesReference<P>(problem, activation);
}

// Neither pixels nor channels fill the last tile; with and without im2col.
template <class P>
void SimtTile() {
  if constexpr (std::is_same_v<typename P::SrcLayout, NCxHWx<4>> &&
                std::is_same_v<typename P::DstLayout, NCxHWx<4>>) {
    Exact<P>(conv::SquareProblem(2, 12, 9, 36, 3, 1, 1));
    Exact<P>(conv::SquareProblem(2, 140, 7, 20, 1, 0, 1));
  }
}

#define NETWORK TILE
#define BASIC TILE
#define TILE(Name, ...) SimtTile<Name<__VA_ARGS__>>();
TEST(TileLists, EverySimtTileIsExact) {
#include "perf/tiles.def"
}
#undef BASIC
#undef TILE
#define TILE(...)

// One after the other, so that the three basic tiles of a layout have an epilogue each.
template <class P, int kIndex>
void BasicTile() {
  const conv::Problem problem = conv::SquareProblem(2, 32, 7, 40, 3, 1, 1);
  if constexpr (kIndex % 3 == 0) {
    Exact<WithResidual<P>>(problem);
  } else if constexpr (kIndex % 3 == 1) {
    Exact<WithNothing<P>>(problem, reference::NoActivation());
  } else {
    Exact<WithHSwish<P>>(problem, reference::HSwishActivation());
  }
}

#define BASIC(Name, ...) BasicTile<Name<__VA_ARGS__>, __COUNTER__>();
TEST(TileLists, BasicTilesAreExactWithEveryEpilogue) {
#include "perf/tiles.def"
}
#undef BASIC

// The first layer of a network.
TEST(TileLists, WgmmaOf4ChannelsToNc32IsExact) {
  Exact<Nc4To32Wgmma<192, 64, 96, 64, 2>>(conv::SquareProblem(2, 4, 26, 68, 7, 3, 2));
}

TEST(TileLists, NhwcOf4ChannelsToNc32IsExact) {
  Exact<NhwcTo32<4, 64, 64, 64, 32, 32, 4>>(conv::SquareProblem(2, 4, 12, 36, 7, 3, 2));
}

}  // namespace
}  // namespace weft::perf
