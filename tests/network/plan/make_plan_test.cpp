// Which kernels a plan has, without compiling one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/network/graphs.hpp"
#include "weft/network/plan/choose_formats.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Names(const Graph& graph, const PlanOptions& options) {
  const absl::StatusOr<Plan> plan = MakePlan(graph, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> names;
  if (!plan.ok()) return names;
  for (const Step& step : plan->steps) names.push_back(step.name);
  return names;
}

// node8 and node9 are an addition and its second convolution, node11 and node12 concats; node15 copies both of its inputs.
TEST(MakePlan, OnlyCopiesWhatDoesNotLieInBlocks) {
  EXPECT_THAT(
      Names(Concats(), {.batch = 1}),
      ElementsAre("node0", "node1", "node2", "node3 + node4", "node5", "node6", "node7 + node8",
                  "node9", "node12", "node13", "node14", "node14", "node15"));
}

// Of several images the operand of an addition lies in another way than a slice.
TEST(MakePlan, AnAdditionIsCopiedOfSeveralImages) {
  EXPECT_THAT(
      Names(Concats(), {.batch = 2}),
      ElementsAre("node0", "node1", "node2", "node3 + node4", "node5", "node6", "node7 + node8",
                  "node9", "node10", "node12", "node13", "node14", "node14", "node15"));
}

// node3 and node8 are concats: of one image the second one copies alone what it reads twice.
TEST(MakePlan, OthersReadAConcatsInputWhereItLies) {
  EXPECT_THAT(Names(ReadConcats(), {.batch = 1}),
              ElementsAre("node0", "node1", "node2", "node4", "node5", "node6", "node7", "node8",
                          "node9", "node10"));
  EXPECT_THAT(Names(ReadConcats(), {.batch = 2}),
              ElementsAre("node0", "node1", "node2", "node3", "node3", "node4", "node5", "node6",
                          "node7", "node8", "node8", "node8", "node8", "node9", "node10"));
  const absl::StatusOr<Plan> plan = MakePlan(ReadConcats(), {.batch = 1});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::string> slices;
  for (const PlacedTensor& slice : plan->tensors) {
    if (slice.within < 0) continue;
    const PlacedTensor& whole = plan->tensors[static_cast<std::size_t>(slice.within)];
    EXPECT_EQ(whole.type.extents.c, 244);
    EXPECT_EQ(slice.offset - whole.offset, slice.first_channel * 5 * 6);
    slices.push_back(ReadConcats().tensors[static_cast<std::size_t>(slice.tensor)].name);
  }
  EXPECT_THAT(slices, ElementsAre("inner", "first", "second", "third", "last"));
}

TEST(MakePlan, WithoutFusionsEachNodeHasItsKernel) {
  EXPECT_THAT(Names(Concats(), {.batch = 1, .fuse = false}),
              ElementsAre("node0", "node1", "node2", "node3", "node4", "node5", "node6", "node7",
                          "node8", "node9", "node10", "node10", "node11", "node11", "node11",
                          "node11", "node12", "node13", "node14", "node14", "node15"));
}

// Slices are places in the concat's memory, which is written from the first of them on.
TEST(MakePlan, SlicesSayWhereTheyBegin) {
  const absl::StatusOr<Plan> plan = MakePlan(Concats(), {.batch = 2});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<std::int64_t> channels;
  for (const Step& step : plan->steps) {
    if (plan->tensors[static_cast<std::size_t>(step.dst)].type.extents.c != 180) continue;
    const auto* convolution = std::get_if<ConvolutionStep>(&step.what);
    channels.push_back(convolution != nullptr ? convolution->first_channel
                                              : std::get<TensorProblem>(step.what).first_channel);
  }
  EXPECT_THAT(channels, ElementsAre(0, 32, 96, 160, 128));
}

// Blocks of 4 channels end where no kernel but a convolution's can begin.
TEST(MakePlan, SlicesBeginAtMultiplesOf16) {
  GraphBuilder b;
  const int x = b.Input("x", Element::kUint8, 20, 4, 4);
  const int y = b.Input("y", Element::kUint8, 32, 4, 4);
  const int p = b.Add("p", Element::kUint8, 20, 4, 4), r = b.Add("r", Element::kUint8, 32, 4, 4);
  b.Put(Kind::kMaxPool, {x}, p);
  b.Put(Kind::kMaxPool, {y}, r);
  const int all = b.Add("all", Element::kUint8, 52, 4, 4);
  b.Put(Kind::kConcat, {p, r}, all);
  b.Output(all);
  EXPECT_THAT(Names(b.Make(), {.formats = {Format::kNc4}}),
              ElementsAre("x", "node0", "y", "node1", "node2", "node2", "all"));
}

// The one bottleneck of a graph in its plan, as Describe says of it.
std::string WhyApart(const BlockCase& of, const PlanOptions& options) {
  const absl::StatusOr<Plan> plan = MakePlan(ResidualBlock(of), options);
  EXPECT_TRUE(plan.ok() && plan->blocks.size() == 1) << plan.status();
  if (!plan.ok() || plan->blocks.size() != 1) return "?";
  bool is_one = false;
  for (const Step& step : plan->steps) {
    is_one = is_one || std::holds_alternative<BottleneckStep>(step.what);
  }
  EXPECT_EQ(is_one, plan->blocks[0].why_apart.empty());
  return plan->blocks[0].why_apart;
}

TEST(MakePlan, BottlenecksAreOneKernel) {
  const PlanOptions always = {.batch = 2, .blocks = Blocks::kAlways};
  EXPECT_THAT(Names(ResidualBlock({}), always),
              ElementsAre("node0", "node1", "node2 + node3 + node5 + node4 + node6", "node7"));
  EXPECT_THAT(Names(ResidualBlock({.projects = false, .sum_is_first = false}), always),
              ElementsAre("node0", "node1", "node2 + node3 + node4 + node5", "node6"));
  EXPECT_THAT(Names(ResidualBlock({.rounds_once = true}), always),
              ElementsAre("node0", "node1", "node2 + node3 + node5 + node4", "node6"));
  EXPECT_THAT(Names(ResidualBlock({.projects = false}), {.blocks = Blocks::kNever}),
              ElementsAre("node0", "node1", "node2", "node3", "node4 + node5", "node6"));
}

TEST(MakePlan, SaysWhyABottleneckIsSeveralKernels) {
  const PlanOptions always = {.blocks = Blocks::kAlways};
  EXPECT_THAT(WhyApart({.stride = 2}, always), HasSubstr("node3 has stride 2x2"));
  EXPECT_THAT(WhyApart({.middle = 128}, always), HasSubstr("128 channels between"));
  EXPECT_THAT(WhyApart({.w = 7}, always), HasSubstr("w=7"));
  EXPECT_THAT(WhyApart({.c = 48}, always), HasSubstr("c=48 is not a multiple of 32"));
  EXPECT_THAT(WhyApart({.k = 96}, always), HasSubstr("k=96 is not a multiple of 64"));
  EXPECT_THAT(WhyApart({.c = 512, .k = 512}, always), HasSubstr("the filters of c=512 and k=512"));
  EXPECT_THAT(WhyApart({}, {.formats = {Format::kNhwc}, .blocks = Blocks::kAlways}),
              HasSubstr("\"x\" is nhwc"));
  EXPECT_THAT(WhyApart({}, {.blocks = Blocks::kNever}), HasSubstr("off"));
  EXPECT_THAT(WhyApart({}, {}), HasSubstr("on the CPU"));
  EXPECT_THAT(WhyApart({}, {.gpu = {.compute_capability = 86, .sm_count = 84}}),
              HasSubstr("the GPU's is 8.6"));
}

// One kernel where the model of times expects it to be quicker.
TEST(MakePlan, ABottleneckIsOneKernelWhereThatIsQuicker) {
  PlanOptions options = {.batch = 64, .gpu = {.compute_capability = 90, .sm_count = 132}};
  const BlockCase large = {.h = 56, .w = 56, .c = 256, .k = 256};
  options.time = [](const TileQuestion& of) { return of.adds ? 24.0 : 13.0; };
  EXPECT_EQ(WhyApart(large, options), "");
  options.time = [](const TileQuestion&) { return 5.0; };
  EXPECT_THAT(WhyApart(large, options), HasSubstr("20 us of kernels of their own"));
}

// The kernel reads pixels around those that it writes.
TEST(MakePlan, ABottleneckDoesNotWriteOverItsSource) {
  const auto plan =
      MakePlan(ResidualBlock({.projects = false}), {.batch = 2, .blocks = Blocks::kAlways});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const Step& step : plan->steps) {
    if (!std::holds_alternative<BottleneckStep>(step.what)) continue;
    const PlacedTensor& x = plan->tensors[static_cast<std::size_t>(step.src)];
    const PlacedTensor& y = plan->tensors[static_cast<std::size_t>(step.dst)];
    EXPECT_TRUE(x.offset + x.type.bytes() <= y.offset || y.offset + y.type.bytes() <= x.offset);
  }
}

// The first layer of ResNet and the pooling behind it, as Describe says of them.
std::string WhyPooledApart(PlanOptions options, std::int64_t window = 3) {
  GraphBuilder b;
  const int x = b.Input("x", Element::kUint8, 3, 224, 224, {0.02f, 114});
  const int a = b.Add("a", Element::kUint8, 64, 112, 112);
  Node& first = b.Put(Kind::kConvolution, {x}, a);
  first.window = Around(7, 2);
  b.FillProducts(first, 64, 3 * 49, 0.003f);
  const int m = b.Add("m", Element::kUint8, 64, 56, 56);
  b.Put(Kind::kMaxPool, {a}, m).window = Around(window, 2);
  b.Output(m);
  const absl::StatusOr<Plan> plan = MakePlan(b.Make(), options);
  EXPECT_TRUE(plan.ok() && plan->pools.size() == 1) << plan.status();
  if (!plan.ok() || plan->pools.size() != 1) return "?";
  EXPECT_EQ(plan->pools[0].name, "node0 + node1");
  bool is_one = false;
  for (const Step& step : plan->steps) {
    const auto* convolution = std::get_if<ConvolutionStep>(&step.what);
    is_one = is_one || (convolution != nullptr && convolution->pool.exists());
  }
  EXPECT_EQ(is_one, plan->pools[0].why_apart.empty());
  return plan->pools[0].why_apart;
}

// Of one image there are few strips for all multiprocessors.
TEST(MakePlan, AFirstLayerPoolsWhereThatIsQuicker) {
  PlanOptions options = {.gpu = {.compute_capability = 90, .sm_count = 132}};
  AddTimes(conv::GpuFacts(), &options);
  EXPECT_THAT(WhyPooledApart(options), HasSubstr("us of kernels of their own"));
  options.batch = 128;
  EXPECT_EQ(WhyPooledApart(options), "");
}

TEST(MakePlan, SaysWhyAFirstLayerDoesNotPool) {
  const PlanOptions always = {.blocks = Blocks::kAlways};
  EXPECT_EQ(WhyPooledApart(always), "");
  EXPECT_THAT(WhyPooledApart(always, 5), HasSubstr("node1 has windows of 5x5 and steps of 2x2"));
  EXPECT_THAT(WhyPooledApart({.formats = {Format::kNhwc}, .blocks = Blocks::kAlways}),
              HasSubstr("one kernel takes"));
  EXPECT_THAT(WhyPooledApart({.blocks = Blocks::kNever}), HasSubstr("off"));
  EXPECT_THAT(WhyPooledApart({}), HasSubstr("on the CPU"));
  EXPECT_THAT(WhyPooledApart({.gpu = {.compute_capability = 86, .sm_count = 84}}),
              HasSubstr("the GPU's is 8.6"));
}

// The kernels are for compute capability 9.0, whatever the options want.
TEST(MakePlan, NoOptionMakesAKernelRunOnAnotherGpu) {
  const PlanOptions always = {.blocks = Blocks::kAlways,
                              .gpu = {.compute_capability = 86, .sm_count = 84}};
  EXPECT_THAT(WhyApart({}, always), HasSubstr("the GPU's is 8.6"));
  EXPECT_THAT(WhyPooledApart(always), HasSubstr("the GPU's is 8.6"));
}

}  // namespace
}  // namespace weft::network
