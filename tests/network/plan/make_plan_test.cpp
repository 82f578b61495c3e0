// Which kernels a plan has, without compiling one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/network/graphs.hpp"
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

}  // namespace
}  // namespace weft::network
