// Operators on random problems.
#pragma once

#include "tests/conv/harness.hpp"

namespace weft::conv {

// `count` of them, every second with more channels, C and K rounded up to multiples.
template <class P>
void RunRandom(int count, std::uint32_t seed, int multiple_c = 1, int multiple_k = 1) {
  std::mt19937 engine(seed);
  for (int i = 0; i < count; ++i) {
    Problem problem = RandomProblem(engine);
    problem.c = RoundUp(i % 2 == 0 ? problem.c + 60 : problem.c, multiple_c);
    problem.k = RoundUp(problem.k, multiple_k);
    ExpectMatchesReference<P>(problem, reference::ReluActivation{},
                              {.seed = static_cast<std::uint32_t>(engine())});
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace weft::conv
