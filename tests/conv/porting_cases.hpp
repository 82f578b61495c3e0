// The operators of docs/porting.md give what the reference gives.
#pragma once

#include "tests/conv/harness.hpp"
#include "tests/conv/porting_policies.hpp"

namespace weft::conv {
namespace {

template <class P, class Activation>
void RunPorted(const Activation& activation) {
  for (const Problem& p :
       {SquareProblem(2, 64, 14, 64, 3, 1, 1), SquareProblem(1, 64, 28, 128, 1, 0, 2),
        SquareProblem(1, 40, 9, 70, 3, 1, 2), SquareProblem(3, 4, 19, 33, 7, 3, 2)}) {
    ExpectMatchesReference<P>(p, activation);
  }
  std::mt19937 engine(11);
  for (int i = 0; i < 15 && !testing::Test::HasFailure(); ++i) {
    ExpectMatchesReference<P>(RandomProblem(engine), activation,
                              {.seed = static_cast<std::uint32_t>(engine()), .beta = 0.25f});
  }
}

TEST(Porting, Nc32TensorCores) {
  RunPorted<PortedNc32>(reference::ReluActivation{});
}

TEST(Porting, Nc4ToNc32WideStores) {
  RunPorted<PortedNc4ToNc32Wide>(reference::HSwishActivation{});
}

TEST(Porting, Nc4ToNc32) {
  RunPorted<PortedNc4ToNc32>(reference::HSwishActivation{});
}

}  // namespace
}  // namespace weft::conv
