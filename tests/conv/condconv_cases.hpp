// CondConv against the reference, which mixes planar experts by itself: the mixed filters and the
// convolution's outputs, exactly.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/conv/prologue_cases.hpp"
#include "tests/conv/wgmma_policies.hpp"
#include "weft/conv/condconv.hpp"
#include "weft/conv/dispatch.hpp"

namespace weft::conv {
namespace {

using prologues::PerSample;

struct MixOptions {
  std::int64_t experts = 8;
  bool scaled = true;
  bool constant = false;  // Arguments::experts_are_constant
  float strange = 0.0f;   // in the place of a few routing weights, if it is not 0
  RunOptions run{};
};

// Weights as a sigmoid gives them and beyond, so that some mixed values saturate.
std::vector<float> RandomFloats(std::int64_t count, float low, float high, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> number(low, high);
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(number(engine));
  return values;
}

// P: a policy, or a family of policies of which First is one.
template <class P, class First = P>
void ExpectMixed(const Problem& problem, const MixOptions& options = {}) {
  SCOPED_TRACE(
      absl::StrCat(ToString(problem), " experts ", options.experts, " seed ", options.run.seed));
  using Op = CondConv<P>;
  using Layout = typename First::FilterLayout;
  const std::int64_t experts = options.experts;
  const absl::StatusOr<Op> op = Op::Create(problem, experts);
  ASSERT_TRUE(op.ok()) << op.status();

  const std::uint32_t seed = options.run.seed;
  RandomTensors t(problem, seed, experts);
  const auto packed =
      PackFilters<prologues::Experts, Layout>(problem.filter(), experts, t.filter).value();
  std::vector<float> routing = RandomFloats(problem.n * experts, -0.3f, 1.0f, seed + 1);
  for (std::size_t i = 0; options.strange != 0.0f && i < routing.size(); i += 3) {
    routing[i] = options.strange;
  }
  const std::vector<float> scale = RandomFloats(experts * problem.k, 0.1f, 1.2f, seed + 2);
  t.filter = reference::MixExperts(problem, experts, t.filter.data(), routing.data(),
                                   options.scaled ? scale.data() : nullptr);

  const OperatorMemory<std::int8_t> src(
      *ConvertTensor<NCHW, typename First::SrcLayout, std::int8_t>(problem.src(), t.src));
  const OperatorMemory<std::int8_t> bank({packed.data(), packed.data() + packed.size()});
  const OperatorMemory<std::int8_t> workspace(std::vector<std::int8_t>(op->workspace_size(), 0x55));
  const OperatorMemory<float> routing_memory(routing), scale_memory(scale);
  const Results<typename First::Epilogue, typename First::DstLayout> results(problem, t,
                                                                             options.run);
  typename Op::Arguments args;
  args.src = src.get();
  args.experts = packed.At(bank.get());
  args.routing = routing_memory.get();
  if (options.scaled) args.expert_scale = scale_memory.get();
  args.workspace = workspace.get();
  args.workspace_bytes = op->workspace_size();
  args.experts_are_constant = options.constant;
  results.Fill(&args);
#if defined(WEFT_CUDA_BACKEND)
  const absl::Status status = op->Run(args, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
#else
  const absl::Status status = op->RunOnCpu(args, options.run.cpu);
#endif
  ASSERT_TRUE(status.ok()) << status;

  const auto want = PackFilters<PerSample, Layout>(problem.filter(), problem.n, t.filter).value();
  const std::vector<std::int8_t> got = workspace.Read();
  ASSERT_EQ(got.size(), static_cast<std::size_t>(want.size()));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != want.data()[i] && ++wrong <= 3) {
      ADD_FAILURE() << "workspace[" << i << "]=" << +got[i] << ", want " << +want.data()[i];
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << got.size();
  results.ExpectEqual([](std::int64_t n, auto...) { return n; }, reference::ReluActivation{},
                      FullRange<typename First::Epilogue::Output>());
}

template <class P>
class CondConvTest : public testing::Test {};

using CondConvPolicies =
    testing::Types<Nc4Prologue<PerSample, NCxHWx<4>>,
                   Nc32Prologue<PerSample, NCxHWx<32>, 64, 64, 64, 32, 32, 3, 8>,
                   NhwcPrologue<PerSample, NHWC, 64, 64, 4, 4>,
                   WgmmaPrologue<PerSample, NCxHWx<32>, SmallTile64>>;
TYPED_TEST_SUITE(CondConvTest, CondConvPolicies);

// Each number of experts with each number of images, and problems that fill nothing.
TYPED_TEST(CondConvTest, ExpertsAndImages) {
  for (std::int64_t experts = 1; experts <= 9; ++experts) {
    Problem p = SquareProblem(1 + experts % 5, 5, 4, 7, 1 + experts % 3, 1, 1);
    p.w = 3;
    MixOptions options{
        .experts = experts, .scaled = experts % 2 == 0, .constant = experts % 3 == 0};
    options.run.seed = static_cast<std::uint32_t>(experts);
    ExpectMixed<TypeParam>(FitTo<TypeParam>(p, 1), options);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(CondConvTest, Corners) {
  for (const Problem& corner : PrologueCorners()) {
    ExpectMixed<TypeParam>(FitTo<TypeParam>(corner, 1), {.experts = 3});
    if (this->HasFailure()) return;
  }
}

using Simple = Nc4Prologue<PerSample, NCxHWx<4>>;

// 1024 / 32 images have their weights at hand at a time; a filter of several blocks of threads.
TEST(CondConv, ManyImagesAndExperts) {
  ExpectMixed<Simple>(SquareProblem(37, 4, 2, 4, 1, 0, 1), {.experts = 32});
  ExpectMixed<Simple>(SquareProblem(70, 40, 2, 40, 3, 1, 1), {.experts = 17});
  ExpectMixed<Simple>(SquareProblem(2, 40, 2, 60, 3, 1, 1), {.experts = 4});
}

// Channels of KRSC whose filters are no whole vectors of 8 bytes.
TEST(CondConv, FiltersOfOddWords) {
  ExpectMixed<NhwcPrologue<PerSample, NHWC, 64, 64, 4, 1>>(SquareProblem(3, 4, 3, 5, 3, 1, 1),
                                                           {.experts = 3});
}

// Weights that are no numbers, and too large ones.
TEST(CondConv, StrangeWeights) {
  const Problem p = SquareProblem(3, 6, 3, 5, 2, 1, 1);
  for (const float strange : {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), -1e30f, 3e38f, 1e-42f}) {
    SCOPED_TRACE(strange);
    ExpectMixed<Simple>(p, {.experts = 5, .strange = strange});
  }
}

// Halves go to the even neighbour, and sums that a float cannot hold are rounded at each expert.
TEST(CondConv, Rounding) {
  const Problem p = SquareProblem(1, 32, 2, 8, 2, 1, 1);
  ExpectMixed<Simple>(p, {.experts = 1, .scaled = false, .strange = 0.5f});
  ExpectMixed<Simple>(p, {.experts = 2, .scaled = false, .strange = 1.0f / 3});
}

TEST(CondConv, OfAFamily) {
  ExpectMixed<Family<Simple>, Simple>(SquareProblem(3, 9, 5, 12, 3, 1, 1));
}

}  // namespace
}  // namespace weft::conv
