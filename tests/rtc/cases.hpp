// Runs of the policies in policies.hpp, and what must come of them.
#pragma once

#include <string>
#include <vector>

#include "tests/conv/harness.hpp"
#include "tests/rtc/policies.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::rtc {

inline constexpr float kScale = 0.25f;

// Random tensors for one policy, in memory of the host, and what must come of them.
template <class PolicyT>
struct Case {
  using Packed =
      PackedFilter<typename PolicyT::FilterLayout, std::int8_t, typename PolicyT::Prologue>;
  using Typed = conv::ConvolutionArguments<std::int8_t, Packed, typename PolicyT::Epilogue>;

  explicit Case(const conv::Problem& p)
      : problem(p), inputs(p, 1), results(p, inputs.tensors, conv::RunOptions{}) {
    inputs.Fill(&typed);
    results.Fill(&typed);
    typed.epilogue.template Get<rtc_cases::SquaredRelu>().scale = kScale;
    args = {.src = typed.src,
            .filter = FilterOf(typed.filter),
            .bias = typed.bias,
            .dst = typed.dst,
            .alpha = typed.alpha,
            .channel_alpha = typed.channel_alpha,
            .beta = typed.beta,
            .output_scale = typed.output_scale};
  }
  void ExpectRight() const {
    const auto squared = [](float x) {
      const float square = x * x;
      return x > 0.0f ? kScale * square : 0.0f;
    };
    results.ExpectEqual(inputs.bank.which, squared, conv::FullRange<std::int8_t>());
  }

  conv::Problem problem;
  conv::Inputs<typename PolicyT::SrcLayout, typename PolicyT::FilterLayout,
               typename PolicyT::Prologue>
      inputs;
  conv::Results<typename PolicyT::Epilogue, typename PolicyT::DstLayout> results;
  Typed typed;
  Arguments args;
};

inline const conv::Problem kProblem = {.n = 2,
                                       .h = 7,
                                       .w = 6,
                                       .c = 64,
                                       .k = 64,
                                       .r = 3,
                                       .s = 3,
                                       .pad_top = 1,
                                       .pad_left = 1,
                                       .pad_bottom = 1,
                                       .pad_right = 1};

// kProblem as these policies take it.
inline conv::Problem ProblemOf(const std::string& policy) {
  conv::Problem p = kProblem;
  if (policy == "First") p.c = 4, p.h = p.w = 17, p.stride_h = p.stride_w = 2;
  if (policy == "Depthwise") p.groups = p.c;
  if (policy == "Simt") p.c = 30, p.k = 7;
  return p;
}

// The same with several tiles in both directions, for a GPU.
inline conv::Problem LargeProblemOf(const std::string& policy) {
  conv::Problem p = ProblemOf(policy);
  p.n = 3, p.h += 22, p.w += 18;
  if (policy != "Depthwise") p.k += 96;
  return p;
}

// A bottleneck whose first and last convolutions have a functor with a number.
inline constexpr char kRtcBottleneck[] = R"(
  struct Times {
    float by = 1.0f;
    constexpr float operator()(float x) const { return weft::epilogues::Mul(by, x); }
  };
  namespace e = weft::epilogues;
  using First = e::Chain<e::Scale, Times, e::ClampTo<std::int8_t>>;
  using Second = e::Chain<e::Scale, e::ClampTo<std::int8_t>>;
  using Third = e::Chain<e::Residual<std::int8_t>, e::Scale, Times, e::ClampTo<std::int8_t>>;
  struct Block : weft::conv::S8Bottleneck<First, Second, Third, weft::conv::BottleneckTile<4, 1, 2>> {};
  struct Projected : weft::conv::ProjectedS8Bottleneck<First, Second, Third, Second> {};
)";

inline std::string NameOf(const std::string& policy) {
  return "weft::rtc_cases::" + policy;
}

// Runs the operator of PolicyT on the CPU.
template <class PolicyT>
void ExpectRightOnCpu(const Operator& op, const conv::Problem& problem) {
  Case<PolicyT> c(problem);
  const absl::StatusOr<conv::ConvPlan> plan = op.Plan(problem);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Values values = op.values();
  ASSERT_TRUE(values.Set("scale", kScale).ok());
  c.args.values = &values;
  const absl::Status status = op.RunOnCpu(*plan, c.args);
  ASSERT_TRUE(status.ok()) << status;
  c.ExpectRight();
}

}  // namespace weft::rtc
