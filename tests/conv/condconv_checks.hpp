// Runs a CondConv on random data and compares it with the reference, which mixes planar experts by
// itself: the mixed filters and the convolution's outputs, exactly.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/conv/prologue_cases.hpp"
#include "weft/conv/condconv.hpp"

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

// P: a policy, or a family of policies of which First is one. more: for Create.
template <class P, class First = P, class... More>
void ExpectMixed(const Problem& problem, const MixOptions& options = {}, const More&... more) {
  SCOPED_TRACE(
      absl::StrCat(ToString(problem), " experts ", options.experts, " seed ", options.run.seed));
  using Op = CondConv<P>;
  using Layout = typename First::FilterLayout;
  const std::int64_t experts = options.experts;
  const absl::StatusOr<Op> op = Op::Create(problem, experts, more...);
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

  // The reference reads int8, so that bytes without a sign are those that int8 has, too.
  using Element = typename Op::Element;
  if (std::is_unsigned_v<Element>) {
    for (std::int8_t& x : t.src) x = static_cast<std::int8_t>(x & 0x7f);
  }
  const std::vector<Element> planar(t.src.begin(), t.src.end());
  const OperatorMemory<Element> src(
      *ConvertTensor<NCHW, typename First::SrcLayout, Element>(problem.src(), planar));
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

}  // namespace
}  // namespace weft::conv
