// Formats by times that are made up: the least of all where that can be counted, and what stays as it is.
#include "weft/network/plan/choose_formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/network/graphs.hpp"

namespace weft::network {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Format kAll[] = {Format::kNc4, Format::kNc32, Format::kNhwc};

std::vector<Format> Planned(const Graph& graph, const PlanOptions& options) {
  const absl::StatusOr<Plan> plan = MakePlan(graph, options);
  EXPECT_TRUE(plan.ok()) << plan.status();
  std::vector<Format> formats;
  if (!plan.ok()) return formats;
  for (const Step& step : plan->steps) {
    formats.push_back(plan->tensors[static_cast<std::size_t>(step.dst)].type.format);
  }
  return formats;
}

TEST(ChooseFormats, WithoutAListTheRule) {
  EXPECT_THAT(Planned(Separable(), {}),
              ElementsAre(Format::kNc4, Format::kNc32, Format::kNc32, Format::kNc32, Format::kNc32,
                          Format::kNc32, Format::kNc32, Format::kNchw));
}

TEST(ChooseFormats, WithoutTimesTheFirstThatATensorCanHave) {
  EXPECT_THAT(Planned(Separable(), {.formats = {Format::kNhwc}}),
              ElementsAre(Format::kNc4, Format::kNhwc, Format::kNhwc, Format::kNhwc, Format::kNhwc,
                          Format::kNhwc, Format::kNhwc, Format::kNchw));
  EXPECT_THAT(Planned(Separable(), {.formats = {Format::kNhwc, Format::kNc32}}),
              ElementsAre(Format::kNc32, Format::kNc32, Format::kNc32, Format::kNc32, Format::kNc32,
                          Format::kNc32, Format::kNc32, Format::kNchw));
}

// The slices of a concat are written in blocks.
TEST(ChooseFormats, ConcatsStayInBlocks) {
  const absl::StatusOr<Plan> plan = MakePlan(Concats(), {.formats = {Format::kNhwc}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  for (const PlacedTensor& tensor : plan->tensors) {
    EXPECT_TRUE(tensor.type.extents.c != 180 || tensor.type.format == Format::kNc32);
  }
}

// A model in which convolutions over NHWC take half of the time: all that can be is NHWC, and ten logits have the fewest bytes in
// blocks of 4.
TEST(ChooseFormats, TakesWhatIsQuicker) {
  PlanOptions options = {.formats = {Format::kNc4, Format::kNc32, Format::kNhwc}};
  options.time = [](const TileQuestion& q) {
    return (q.src == Format::kNhwc ? 25.0 : 50.0) + (q.dst == Format::kNhwc ? 25.0 : 50.0);
  };
  EXPECT_THAT(Planned(SmallResnet(48), options),
              ElementsAre(Format::kNc4, Format::kNhwc, Format::kNhwc, Format::kNhwc, Format::kNhwc,
                          Format::kNhwc, Format::kNc4, Format::kNchw));
}

// What gains less than the model errs by, and what no kernel can run, is not taken.
TEST(ChooseFormats, KeepsTheRuleForLittle) {
  PlanOptions options = {.formats = {Format::kNc4, Format::kNc32, Format::kNhwc}};
  const std::vector<Format> usual = Planned(SmallResnet(48), {});
  options.time = [](const TileQuestion& q) { return q.src == Format::kNhwc ? 99.5 : 100.0; };
  EXPECT_EQ(Planned(SmallResnet(48), options), usual);
  options.time = [](const TileQuestion& q) {
    const bool none = q.src == Format::kNhwc || q.dst == Format::kNhwc;
    return none ? std::numeric_limits<double>::infinity() : 100.0;
  };
  EXPECT_EQ(Planned(SmallResnet(48), options), usual);
}

TEST(ChooseFormats, RefusesNchw) {
  EXPECT_THAT(std::string(MakePlan(Separable(), {.formats = {Format::kNchw}}).status().message()),
              HasSubstr("network: formats has nchw; give some of nc4, nc32 and nhwc"));
}

// Times by kernel and formats at random, made where they are asked for.
class RandomTimes {
 public:
  explicit RandomTimes(std::uint32_t seed) : random_(seed) {}
  double operator()(const TileQuestion& q) {
    const auto [at, is_new] = times_.try_emplace({q.problem.k, q.src, q.dst}, 0.0);
    if (is_new) at->second = 1.0 + static_cast<double>(random_() % 1000);
    return at->second;
  }

 private:
  std::mt19937 random_;
  std::map<std::tuple<std::int64_t, Format, Format>, double> times_;
};

// A chain of convolutions: dynamic programming finds the least of all 3^6. With an addition of an earlier tensor it finds
// no more than the rule has.
TEST(ChooseFormats, ChainsHaveTheLeastTime) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Graph graph;
    std::vector<FormatKernel> kernels;
    for (int i = 0; i < 6; ++i) {
      graph.tensors.push_back({.name = "t", .c = 32, .h = 8, .w = 8});
      if (i == 0) continue;
      FormatKernel k = {.src = i - 1, .dst = i, .is_convolution = i != 3};
      k.question.problem.k = i;  // tells the kernels apart
      if (seed % 2 == 1 && i == 5) k.other = 1;
      kernels.push_back(k);
    }
    PlanOptions options = {.formats = {std::begin(kAll), std::end(kAll)}, .bytes_per_us = 100.0};
    options.time = RandomTimes(seed);
    const auto found =
        ChooseFormats(graph, kernels, std::vector<bool>(graph.tensors.size()), options);
    ASSERT_TRUE(found.ok()) << found.status();
    double least = std::numeric_limits<double>::infinity();
    std::vector<Format> formats(6);
    for (int i = 0; i < 729; ++i) {
      for (int j = 0, rest = i; j < 6; ++j, rest /= 3) {
        formats[static_cast<std::size_t>(j)] = kAll[rest % 3];
      }
      least = std::min(least, PredictedTime(graph, kernels, formats, options));
    }
    const double of_found = PredictedTime(graph, kernels, *found, options);
    const double of_rule =
        PredictedTime(graph, kernels, std::vector<Format>(6, Format::kNc32), options);
    EXPECT_LE(of_found, of_rule);
    if (seed % 2 == 0 && of_found < of_rule) {
      EXPECT_DOUBLE_EQ(of_found, least) << seed;
    } else if (least < 0.5 * of_rule) {
      EXPECT_LT(of_found, of_rule) << seed;
    }
  }
}

// The model of an H200 knows all kernels of these networks.
TEST(ChooseFormats, ByTheModel) {
  PlanOptions options = {.batch = 64, .formats = {Format::kNc4, Format::kNc32, Format::kNhwc}};
  AddTimes(conv::GpuFacts(), &options);
  for (const Graph& graph : {SmallResnet(48), Separable(), Concats()}) {
    for (const Format format : Planned(graph, options)) {
      EXPECT_GE(static_cast<int>(format), 0);
    }
  }
  EXPECT_TRUE(std::isfinite(options.time({.problem = conv::SquareProblem(64, 48, 8, 48, 3, 1, 1),
                                          .src = Format::kNhwc,
                                          .dst = Format::kNhwc})));
}

}  // namespace
}  // namespace weft::network
