// Tiles that weft_perf chooses from, on the CPU against the reference: every tile over NCxHWx<4>,
// and the basic ones of the other lists with each epilogue.
#include <gtest/gtest.h>

#include <tuple>

#define WEFT_PERF_ALL_TILES 1
#include "perf/weft_perf/tiles.hpp"
#include "tests/conv/harness.hpp"

namespace weft::perf {
namespace {

template <class... Policies, class Activation>
void Each(std::tuple<Policies...>, const conv::Problem& problem, Activation activation) {
  (conv::ExpectMatchesReference<Policies>(problem, activation), ...);
}

template <class... Tiles>
std::tuple<WithResidual<Tiles>...> Residuals(std::tuple<Tiles...>);
template <class... Tiles>
std::tuple<WithHSwish<Tiles>...> HSwishes(std::tuple<Tiles...>);

using Simt = decltype(std::tuple_cat(FewSimtTiles(), MoreSimtTiles()));

TEST(TileLists, EverySimtTileIsExact) {
  // Neither pixels nor channels fill the last tile.
  Each(Simt(), conv::SquareProblem(2, 12, 9, 36, 3, 1, 1), reference::ReluActivation());
}

TEST(TileLists, EverySimtTileIsExactWithoutIm2col) {
  Each(Simt(), conv::SquareProblem(2, 140, 7, 20, 1, 0, 1), reference::ReluActivation());
}

TEST(TileLists, BasicTilesAreExactWithAResidual) {
  const conv::Problem problem = conv::SquareProblem(2, 32, 7, 40, 3, 1, 1);
  Each(decltype(Residuals(FewSimtTiles()))(), problem, reference::ReluActivation());
  Each(decltype(Residuals(FewTiles()))(), problem, reference::ReluActivation());
}

TEST(TileLists, BasicTilesAreExactWithHardSwish) {
  const conv::Problem problem = conv::SquareProblem(2, 32, 7, 40, 3, 1, 1);
  Each(decltype(HSwishes(FewSimtTiles()))(), problem, reference::HSwishActivation());
  Each(decltype(HSwishes(FewTiles()))(), problem, reference::HSwishActivation());
}

}  // namespace
}  // namespace weft::perf
