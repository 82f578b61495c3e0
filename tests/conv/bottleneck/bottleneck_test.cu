// The same tests on the GPU, and the blocks of ResNet-50.
#include "tests/conv/bottleneck/bottleneck_cases.hpp"

#include "weft/conv/instantiate.cuh"

namespace weft::conv {
namespace {

TEST(BlocksOfResnet, Identity) {
  const BottleneckProblem p = {.n = 3, .h = 56, .w = 56, .c = 256, .k = 256};
  ExpectBottleneck<U8Block>(p);
  ExpectBottleneck<S8Block>(p, {.padding = -128});
  ExpectBottleneck<ReluBlock>(p);
}
TEST(BlocksOfResnet, Projection) {
  const BottleneckProblem p = {.n = 3, .h = 56, .w = 56, .c = 64, .k = 256};
  ExpectBottleneck<U8Projected>(p);
  ExpectBottleneck<S8Projected>(p, {.padding = -128});
  ExpectBottleneck<ReluProjected>(p);
}

// More than one wave of blocks.
TEST(BlocksOfResnet, ManyImages) {
  ExpectBottleneck<U8Block>({.n = 20, .h = 56, .w = 56, .c = 64, .k = 64});
}

}  // namespace
}  // namespace weft::conv
