// Tuning of a network by a clock that is a function, on the CPU: groups, candidates, and that outputs stay what they are.
#include "weft/network/tune/tune.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/network/graphs.hpp"
#include "tests/rtc/gpu/device_memory.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two convolutions that are alike, and one of another problem.
Graph Chain() {
  GraphBuilder b(3);
  const Quantization q = {0.05f, 0};
  const int x = b.Input("x", Element::kUint8, 64, 8, 8, q);
  int last = x;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t size = i == 1 ? 3 : 1;
    const int y = b.Add("y" + std::to_string(i), Element::kUint8, 64, 8, 8, q);
    Node& node = b.Put(Kind::kConvolution, {last}, y);
    node.window = Around(size);
    b.FillProducts(node, 64, 64 * size * size, 0.001f);
    last = y;
  }
  b.Output(last);
  return b.Make();
}

absl::StatusOr<Network> OnCpu() {
  return Network::Create(Chain(), {.batch = 2, .back_end = rtc::BackEnd::kCpu});
}

TEST(Tune, StepsThatAreAlikeAreOneGroup) {
  const auto network = OnCpu();
  ASSERT_TRUE(network.ok()) << network.status();
  const auto groups = TuneGroupsOf(*network, conv::CpuFacts{1}, 8);
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_THAT((*groups)[0].steps, ElementsAre("node1"));  // nine times the products
  EXPECT_THAT((*groups)[1].steps, ElementsAre("node0", "node2"));
  for (const TuneGroup& group : *groups) {
    EXPECT_EQ(group.tiles[0], network->tiles()[group.steps[0]]);
    EXPECT_EQ(std::set<std::string>(group.tiles.begin(), group.tiles.end()).size(),
              group.tiles.size());
  }
  const auto few = TuneGroupsOf(*network, conv::CpuFacts{1}, 0);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ((*few)[0].tiles.size(), 1u);
}

// A bottleneck that is one kernel has tiles of its own.
TEST(Tune, ABottleneckIsAGroup) {
  const auto network =
      Network::Create(ResidualBlock({.projects = false, .sum_is_first = false, .w = 4}),
                      {.batch = 2, .back_end = rtc::BackEnd::kCpu, .blocks = Blocks::kAlways});
  ASSERT_TRUE(network.ok()) << network.status();
  const auto groups = TuneGroupsOf(*network, conv::CpuFacts{1}, 8);
  ASSERT_TRUE(groups.ok()) << groups.status();
  bool is_there = false;
  for (const TuneGroup& group : *groups) {
    if (group.steps[0] != "node2 + node3 + node4 + node5") continue;
    is_there = true;
    EXPECT_THAT(group.tiles, ElementsAre("Bottleneck4x1x2", "Bottleneck14x2x3", "Bottleneck8x3x4"));
  }
  EXPECT_TRUE(is_there);
}

TEST(Tune, TakesTheTilesThatMakeTheChainFaster) {
  const auto network = OnCpu();
  ASSERT_TRUE(network.ok()) << network.status();
  const Tiles now = network->tiles();
  // Other tiles than the network has are faster, but not for node1.
  int clocks = 0, samples = 0;
  const auto clock = [&](const Network& changed) -> absl::StatusOr<Clock> {
    ++clocks;
    double time = 0.0;
    for (const auto& [step, tile] : changed.tiles()) {
      time += (tile == now.at(step)) == (step == "node1") ? 90.0 : 100.0;
    }
    return Clock([&samples, time] {
      ++samples;
      return absl::StatusOr<double>(time);
    });
  };
  int told = 0;
  const auto tuned = TuneBy(*network, conv::CpuFacts{1},
                            {.report =
                                 [&](const TuneProgress&) {
                                   ++told;
                                   return absl::OkStatus();
                                 }},
                            clock);
  ASSERT_TRUE(tuned.ok()) << tuned.status();
  EXPECT_GE(told, 3);
  // A chain is made once for a comparison, and sampled again and again.
  EXPECT_GE(samples, 3 * clocks);
  EXPECT_EQ(tuned->tiles.at("node1"), now.at("node1"));
  EXPECT_NE(tuned->tiles.at("node0"), now.at("node0"));
  EXPECT_EQ(tuned->tiles.at("node0"), tuned->tiles.at("node2"));
  EXPECT_DOUBLE_EQ(tuned->before, 290.0);
  EXPECT_DOUBLE_EQ(tuned->after, 270.0);
  EXPECT_THAT(tuned->refused, ElementsAre());
  const auto faster =
      Network::Create(Chain(), {.batch = 2, .back_end = rtc::BackEnd::kCpu, .tiles = tuned->tiles});
  ASSERT_TRUE(faster.ok()) << faster.status();
  EXPECT_EQ(faster->tiles(), tuned->tiles);
}

TEST(Tune, OnTheCpuIsRefused) {
  const auto network = OnCpu();
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_THAT(std::string(Tune(*network, {}, nullptr).status().message()),
              HasSubstr("made for the CPU, and tiles are tuned on a GPU"));
  EXPECT_EQ(Tune(*network).status(), Tune(*network, {}, nullptr).status());
}

// On a GPU, with its own clock: outputs have the same bits with the tuned tiles.
TEST(Tune, OnAGpuBitsStay) {
  if (const auto device = rtc::CurrentDevice(); !device.ok()) GTEST_SKIP() << device.status();
  NetworkOptions options = {.batch = 2, .back_end = rtc::BackEnd::kGpu};
  const auto network = Network::Create(Chain(), options);
  if (absl::IsNotFound(network.status())) GTEST_SKIP() << network.status();
  ASSERT_TRUE(network.ok()) << network.status();
  const std::string x(static_cast<std::size_t>(network->input_bytes(0)), '\x11');
  const rtc::DeviceCopy on_gpu(x.data(), x.size());
  const auto run = [&](const Network& of) {
    std::string y(static_cast<std::size_t>(of.output_bytes(0)), '\0');
    const rtc::DeviceCopy out(y.data(), y.size());
    const auto arena = rtc::DeviceBytes::Allocate(of.arena_bytes());
    EXPECT_TRUE(arena.ok()) << arena.status();
    const absl::Status status = of.Run({.inputs = {on_gpu.get()},
                                        .outputs = {out.get()},
                                        .arena = const_cast<char*>(arena->data())},
                                       nullptr);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(rtc::Synchronize(nullptr), absl::OkStatus());
    out.CopyTo(y.data());
    return y;
  };
  const std::string before = run(*network);
  const auto tuned = Tune(*network, {.most_tiles = 4, .sample_microseconds = 500.0});
  ASSERT_TRUE(tuned.ok()) << tuned.status();
  EXPECT_GT(tuned->before, 0.0);
  EXPECT_LE(tuned->after, tuned->before);
  options.tiles = tuned->tiles;
  const auto faster = Network::Create(Chain(), options);
  ASSERT_TRUE(faster.ok()) << faster.status();
  EXPECT_EQ(run(*faster), before);
}

}  // namespace
}  // namespace weft::network
