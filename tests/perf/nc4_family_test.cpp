// Every tile that nc4_bench chooses from, on the CPU against the reference.
#include <gtest/gtest.h>

#include "perf/nc4_bench/tiles.hpp"
#include "tests/conv/harness.hpp"

namespace weft::perf {
namespace {

template <class... Policies>
void Each(std::tuple<Policies...>*, const conv::Problem& problem) {
  (conv::ExpectMatchesReference<Policies>(problem, reference::ReluActivation()), ...);
}

TEST(Nc4Family, EveryTileIsExact) {
  // Neither pixels nor channels fill the last tile.
  Each(static_cast<Nc4Family*>(nullptr), conv::SquareProblem(2, 12, 9, 36, 3, 1, 1));
}

TEST(Nc4Family, EveryTileIsExactWithoutIm2col) {
  Each(static_cast<Nc4Family*>(nullptr), conv::SquareProblem(2, 140, 7, 20, 1, 0, 1));
}

}  // namespace
}  // namespace weft::perf
