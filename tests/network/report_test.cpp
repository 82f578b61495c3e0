// What is said of a network's kernels: their nodes, bytes and operations, how long each takes, and which arena is too large.
#include "weft/network/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <numeric>

#include "tests/network/graphs.hpp"
#include "tests/rtc/gpu/device_memory.hpp"
#include "weft/network/profile.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

NetworkOptions OnCpu(std::int64_t batch = 1) {
  return {.batch = batch, .back_end = rtc::BackEnd::kCpu};
}

// Two poolings of an image, and their channels behind each other; a part of them is the second output. No node is a
// convolution, which would have to be compiled.
Graph TwoPoolings() {
  GraphBuilder b;
  const int x = b.Input("x", Element::kUint8, 32, 8, 8, {0.5f, 7});
  const int p = b.Add("p", Element::kUint8, 32, 4, 4, {0.5f, 7});
  b.Put(Kind::kMaxPool, {x}, p).window = {.h = 2, .w = 2, .stride_h = 2, .stride_w = 2};
  const int q = b.Add("q", Element::kUint8, 32, 4, 4, {0.5f, 7});
  b.Put(Kind::kMaxPool, {x}, q).window = {
      .h = 3, .w = 2, .stride_h = 2, .stride_w = 2, .pad_top = 1};
  const int c = b.Add("c", Element::kUint8, 64, 4, 4, {0.5f, 7});
  b.Put(Kind::kConcat, {p, q}, c);
  b.Output(c);
  return b.Make();
}

TEST(NetworkReport, SaysWhatEachKernelDoes) {
  const auto network = Network::Create(SmallResnet(), OnCpu(2));
  ASSERT_TRUE(network.ok()) << network.status();
  const std::vector<StepReport> steps = ReportOf(*network);
  ASSERT_THAT(steps, SizeIs(network->plan().steps.size()));
  std::vector<int> nodes;
  for (const StepReport& step : steps)
    nodes.insert(nodes.end(), step.nodes.begin(), step.nodes.end());
  std::vector<int> all(network->graph().nodes.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(nodes, all);  // each node is part of one kernel
  EXPECT_EQ(steps[0].kernel, "quantize");
  EXPECT_EQ(steps[0].bytes,
            2 * 17 * 17 * (3 * 4 + 4));  // floats of 3 channels, bytes of a block of 4
  EXPECT_EQ(steps[0].operations, 0);
  EXPECT_EQ(steps[1].detail, "7x7 / 2x2");
  EXPECT_EQ(steps[1].operations, 2.0 * 2 * 40 * 3 * 49 * 9 * 9);
  EXPECT_EQ(steps[2].detail, "3x3 / 2x2");
  EXPECT_THAT(steps[4].nodes, ElementsAre(4, 5));  // a convolution and the addition behind it
  EXPECT_EQ(steps[4].bytes, 3 * 2 * 64 * 5 * 5 + 40 * 40 * 9 +
                                40 * 8);  // three tensors, the filter, scales and bias
  EXPECT_THAT(network->Describe(),
              HasSubstr("4 node4 + node5: c (uint8 40x5x5 nc32) and m (uint8 40x5x5 nc32) -> s"));
}

TEST(NetworkReport, PartsOfAConcatAndChangesOfFormat) {
  NetworkOptions options = OnCpu();
  options.fuse = false;
  const auto network = Network::Create(TwoPoolings(), options);
  ASSERT_TRUE(network.ok()) << network.status();
  std::vector<StepReport> parts, formats;
  for (const StepReport& step : ReportOf(*network)) {
    if (step.nodes == std::vector<int>{2}) parts.push_back(step);
    if (step.nodes.empty()) formats.push_back(step);
  }
  ASSERT_THAT(parts, SizeIs(2));
  EXPECT_EQ(parts[1].first_channel, 32);
  EXPECT_EQ(parts[1].channels, 32);
  EXPECT_THAT(network->Describe(), HasSubstr("c (uint8 64x4x4 nc32) from channel 32 on; convert"));
  EXPECT_EQ(parts[1].bytes, 2 * 32 * 4 * 4);
  ASSERT_THAT(formats, SizeIs(2));  // of the input and of the output
  EXPECT_EQ(formats[0].kernel, "convert");
}

// Poolings that write where the concat wants their channels are parts of it.
TEST(NetworkReport, SlicesOfAConcat) {
  const auto network = Network::Create(TwoPoolings(), OnCpu(3));
  ASSERT_TRUE(network.ok()) << network.status();
  std::vector<StepReport> pools;
  for (const StepReport& step : ReportOf(*network)) {
    if (step.kernel == "max_pool") pools.push_back(step);
  }
  ASSERT_THAT(pools, SizeIs(2));
  EXPECT_THAT(pools[0].nodes, ElementsAre(0, 2));
  EXPECT_THAT(pools[1].nodes, ElementsAre(1, 2));
  EXPECT_EQ(pools[1].first_channel, 32);
  EXPECT_EQ(pools[1].channels, 32);
  EXPECT_EQ(pools[1].bytes, 3 * 32 * (8 * 8 + 4 * 4));
}

TEST(NetworkReport, FloorIsOfBytesOrOfOperations) {
  const gemm::GpuFacts h200;
  StepReport step;
  step.bytes = 4'300'000;
  EXPECT_DOUBLE_EQ(FloorMicroseconds(step, h200), 1.0);
  step.operations = 20.0 * gemm::Int8MacsPerMicrosecond(h200);
  EXPECT_DOUBLE_EQ(FloorMicroseconds(step, h200), 10.0);
  EXPECT_NEAR(gemm::Int8MacsPerMicrosecond(h200) / 1e6, 1070.0, 1.0);
}

TEST(NetworkReport, ArenaThatIsTooLarge) {
  const auto five = Network::Create(TwoPoolings(), OnCpu(5));
  ASSERT_TRUE(five.ok()) << five.status();
  const std::int64_t most = five->arena_bytes();
  const auto made = [&](std::int64_t batch, std::int64_t bytes) {
    NetworkOptions options = OnCpu(batch);
    options.most_arena_bytes = bytes;
    return Network::Create(TwoPoolings(), options).status();
  };
  EXPECT_TRUE(made(5, most).ok());
  const absl::Status status = made(64, most);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the arena of 64 images has "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("allow more, or give at most 5 images"));
  EXPECT_THAT(std::string(made(1, 1).message()), HasSubstr("not even one image fits"));
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};

TEST(NetworkProfile, TimesOfEachKernel) {
  const auto network = Network::Create(TwoPoolings(), OnCpu());
  ASSERT_TRUE(network.ok()) << network.status();
  std::vector<std::uint8_t> x(static_cast<std::size_t>(network->input_bytes(0)), 3);
  std::vector<std::uint8_t> y(static_cast<std::size_t>(network->output_bytes(0))), z = y;
  const std::unique_ptr<void, Free> arena(
      std::aligned_alloc(256, static_cast<std::size_t>(network->arena_bytes())));
  Network::Arguments args = {.inputs = {x.data()}, .outputs = {y.data()}, .arena = arena.get()};
  const auto profile = MeasureOnCpu(*network, args, 2);
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_THAT(profile->step_us, SizeIs(network->plan().steps.size()));
  EXPECT_THAT(profile->step_us, Each(Gt(0.0)));
  EXPECT_DOUBLE_EQ(profile->run_us,
                   std::accumulate(profile->step_us.begin(), profile->step_us.end(), 0.0));
  args.outputs = {z.data()};
  ASSERT_TRUE(network->RunOnCpu(args).ok());
  EXPECT_EQ(y, z);  // a profile runs the network
  EXPECT_THAT(std::string(MeasureOnCpu(*network, args, 0).status().message()),
              HasSubstr("repeats=0 is not positive"));
  EXPECT_THAT(std::string(MeasureOnGpu(*network, args, nullptr).status().message()),
              HasSubstr("made for the CPU"));
  args.begin = 2, args.end = 1;
  EXPECT_THAT(std::string(network->RunOnCpu(args).message()),
              HasSubstr("begin=2 and end=1 are no part of the plan"));
}

TEST(NetworkProfile, TimesOnAGpu) {
  if (const auto device = rtc::CurrentDevice(); !device.ok()) GTEST_SKIP() << device.status();
  const auto network =
      Network::Create(TwoPoolings(), {.batch = 64, .back_end = rtc::BackEnd::kGpu});
  ASSERT_TRUE(network.ok()) << network.status();
  const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(
      network->input_bytes(0) + network->output_bytes(0) + network->arena_bytes()));
  const rtc::DeviceCopy x(zeros.data(), zeros.size()), y(zeros.data(), zeros.size()),
      arena(zeros.data(), zeros.size());
  const auto profile = MeasureOnGpu(
      *network, {.inputs = {x.get()}, .outputs = {y.get()}, .arena = arena.get()}, nullptr, 5);
  if (absl::IsNotFound(profile.status())) GTEST_SKIP() << profile.status();  // no NVRTC
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_THAT(profile->step_us, SizeIs(network->plan().steps.size()));
  EXPECT_THAT(profile->step_us, Each(Gt(0.0)));
  EXPECT_GT(profile->run_us, 0.0);
  EXPECT_LT(profile->run_us, 1000.0);  // without the host's times
}

}  // namespace
}  // namespace weft::network
