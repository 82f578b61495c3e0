// The parts of weft_demo: that a wrong output is counted, and which tile is chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "examples/weft_demo/cudnn.hpp"
#include "examples/weft_demo/kernels.hpp"

namespace weft_demo {
namespace {

using examples::Backend;

TEST(Kernels, EveryTileEqualsTheReference) {
  // Channels that fill no block, more than one tile in each direction of some of them.
  const LayerData data(weft::conv::SquareProblem(2, 10, 13, 70, 3, 1, 2));
  for (const Kernel& kernel : Kernels()) {
    const std::vector<std::int8_t> want = Reference(kernel.op, data);
    const auto measured = kernel.run(data, Backend::kCpu, &want);
    ASSERT_TRUE(measured.ok()) << measured.status();
    EXPECT_EQ(measured->mismatches, 0) << kernel.tile() << " to " << kernel.dst_layout;
    EXPECT_GT(measured->milliseconds, 0.0);
  }
}

TEST(Kernels, EachDifferenceIsCounted) {
  const LayerData data(weft::conv::SquareProblem(1, 4, 5, 8, 3, 1, 1));
  for (const Operator op :
       {Operator::kRelu, Operator::kHSwishReformat, Operator::kRelu32, Operator::kHSwish32}) {
    std::vector<std::int8_t> want = Reference(op, data);
    want.front() = static_cast<std::int8_t>(want.front() ^ 1);
    want.back() = static_cast<std::int8_t>(want.back() ^ 1);
    const auto kernel = ChooseKernel(op, data.problem, {Backend::kCpu, {}, {2}}, "");
    const auto measured = kernel->run(data, Backend::kCpu, &want);
    ASSERT_TRUE(measured.ok()) << measured.status();
    EXPECT_EQ(measured->mismatches, 2);
  }
}

TEST(Cudnn, DifferencesAreCounted) {
  const CudnnDifferences none = Compare({1, 2, -128}, {1, 2, -128});
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.largest, 0);
  const CudnnDifferences some = Compare({1, 2, -128, 5}, {2, 2, 127, 4});
  EXPECT_EQ(some.count, 3);
  EXPECT_EQ(some.largest, 255);
}

#if !WEFT_HAVE_CUDA
TEST(Cudnn, IsMissingHere) {
  const LayerData data(weft::conv::SquareProblem(1, 4, 5, 8, 3, 1, 1));
  EXPECT_EQ(RunCudnn(Operator::kRelu, data).status(),
            absl::NotFoundError("this build has no CUDA back end"));
}
#endif

TEST(LayerData, OutputsAreSpreadOverTheRange) {
  const LayerData data(weft::conv::SquareProblem(1, 64, 14, 32, 3, 1, 1));
  const std::vector<std::int8_t> outputs = Reference(Operator::kRelu, data);
  const auto zeros = std::count(outputs.begin(), outputs.end(), 0);
  const auto clamped = std::count(outputs.begin(), outputs.end(), 127);
  const auto size = static_cast<std::ptrdiff_t>(outputs.size());
  EXPECT_GT(zeros, size / 4);
  EXPECT_LT(zeros, size * 3 / 4);
  EXPECT_GT(clamped, 0);
  EXPECT_LT(clamped, size / 4);
}

std::string Tile(Operator op, const weft::conv::Problem& problem, const Machine& machine) {
  return ChooseKernel(op, problem, machine, "")->tile();
}

TEST(ChooseKernel, FitsTheLayer) {
  const Machine gpu = {Backend::kCuda, {}, {}}, cpu = {Backend::kCpu, {}, {2}};
  const auto large = weft::conv::SquareProblem(64, 512, 56, 512, 3, 1, 1);
  const auto narrow = weft::conv::SquareProblem(16, 64, 128, 32, 3, 1, 1);
  const auto small = weft::conv::SquareProblem(1, 512, 7, 512, 3, 1, 1);
  // Much of everything; few output channels; too few outputs to give every multiprocessor a large
  // tile.
  EXPECT_EQ(Tile(Operator::kRelu, large, gpu), "128x128x32");
  EXPECT_EQ(Tile(Operator::kRelu, narrow, gpu), "128x32x32");
  EXPECT_EQ(Tile(Operator::kRelu, narrow, cpu), "128x32x32");
  EXPECT_EQ(Tile(Operator::kRelu, small, gpu), "32x32x256");
  EXPECT_THAT(Tile(Operator::kRelu32, large, gpu), testing::StartsWith("128x128x"));
  EXPECT_THAT(Tile(Operator::kHSwish32, narrow, gpu), testing::StartsWith("128x32x"));
  EXPECT_EQ(Tile(Operator::kHSwish32, small, gpu), "32x32x256");
}

TEST(ChooseKernel, NamesTheTilesThereAre) {
  const weft::conv::Problem problem = weft::conv::SquareProblem(1, 4, 5, 8, 3, 1, 1);
  EXPECT_EQ(ChooseKernel(Operator::kRelu, problem, {}, "64x64")->tile(), "64x64x32");
  EXPECT_EQ(ChooseKernel(Operator::kRelu, problem, {}, "32x32x256")->tile(), "32x32x256");
  const absl::Status status = ChooseKernel(Operator::kRelu, problem, {}, "65x64").status();
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("--tile=65x64 does not exist; accepted are 64x64x32, "
                                   "128x128x32, 128x32x32, 32x32x32, 32x32x128, 32x32x256"));
  EXPECT_THAT(std::string(ChooseKernel(Operator::kRelu32, problem, {}, "7x7").status().message()),
              ::testing::ContainsRegex("accepted are 128x64x[0-9]+, 128x128x[0-9]+, 128x32x"));
}

}  // namespace
}  // namespace weft_demo
