// The tiles of perf/tiles.def on the CPU against the reference: every tile over NCxHWx<4>, and the
// basic ones of the other layouts with each epilogue.
#include <gtest/gtest.h>

#include "perf/weft_perf/tiles.hpp"
#include "tests/conv/harness.hpp"

namespace weft::perf {
namespace {

template <class P, class Activation = reference::ReluActivation>
void Exact(const conv::Problem& problem, Activation activation = {}) {
  conv::ExpectMatchesReference<P>(problem, activation);
}

template <class P>
constexpr bool kSimt = std::is_same_v<typename P::SrcLayout, NCxHWx<4>>;

// Neither pixels nor channels fill the last tile; with and without im2col.
template <class P>
void EverySimtTile() {
  if constexpr (kSimt<P>) {
    Exact<P>(conv::SquareProblem(2, 12, 9, 36, 3, 1, 1));
    Exact<P>(conv::SquareProblem(2, 140, 7, 20, 1, 0, 1));
  }
}

const conv::Problem kProblem = conv::SquareProblem(2, 32, 7, 40, 3, 1, 1);

#define NETWORK TILE
#define BASIC TILE
#define TILE(Name, ...) EverySimtTile<Name<__VA_ARGS__>>();
TEST(TileLists, EverySimtTileIsExact){
#include "perf/tiles.def"
}
#undef BASIC
#undef TILE
#define TILE(...)

#define BASIC(Name, ...) Exact<WithResidual<Name<__VA_ARGS__>>>(kProblem);
TEST(TileLists, BasicTilesAreExactWithAResidual){
#include "perf/tiles.def"
}
#undef BASIC

#define BASIC(Name, ...) Exact<WithNothing<Name<__VA_ARGS__>>>(kProblem, reference::NoActivation());
TEST(TileLists, BasicTilesAreExactWithNothing) {
#include "perf/tiles.def"
}
#undef BASIC
#define BASIC(...)

// The first layer of a network.
TEST(TileLists, NhwcOf4ChannelsToNc32IsExact) {
  Exact<NhwcTo32<4, 64, 64, 64, 32, 32, 4>>(conv::SquareProblem(2, 4, 12, 36, 7, 3, 2));
}
#undef BASIC

#define BASIC(Name, ...) \
  Exact<WithHSwish<Name<__VA_ARGS__>>>(kProblem, reference::HSwishActivation());
TEST(TileLists, BasicTilesAreExactWithHardSwish) {
#include "perf/tiles.def"
}
#undef BASIC

}  // namespace
}  // namespace weft::perf
