// What stands in the place of an operator whose policy is wrong, so that the sentence about the policy is
// the only error.
//
// The mechanism is the same for all operators. A policy's check (CheckedPolicy, CheckedGemmPolicy,
// CheckedDepthwisePointwise, CheckedFamily, ...) says its sentence by a static_assert, and its kValid is
// false where code that follows could not be compiled. The operator is specialised for such policies, as a
// RefusedOperator, whose members accept whatever the real operator's do. A correct policy never reaches it.
#pragma once

#include <cstdint>
#include <string>

#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// An argument of any type.
struct AnyArgument {
  constexpr AnyArgument() = default;
  template <class Type>
  constexpr AnyArgument(const Type&) {}  // NOLINT(runtime/explicit): any type is the point
};

// The arguments of the depthwise half of a DepthwisePointwise, and of a part of a Bottleneck.
struct RefusedHalfArguments {
  AnyArgument filter, bias, alpha, channel_alpha, beta, output_scale, zero_point, source_correction,
      filter_zero_point, epilogue;
};

// The arguments of all operators, in an order that is each one's.
struct RefusedArguments {
  AnyArgument src, a, b;
  RefusedHalfArguments depthwise, first, second, projection;
  AnyArgument padding;
  AnyArgument filter, experts, routing, expert_scale, workspace, workspace_bytes, bias, residual,
      dst, c, alpha, channel_alpha, beta, gamma, output_scale, zero_point, source_correction,
      filter_zero_point, window_sums, filter_is_constant, filters_are_constant,
      experts_are_constant, epilogue, group_offsets, load_a, load_b, prologue, source_functor;
};

// Nothing here is defined, since no program with it is ever complete.
template <class Operator, class ProblemT, class ArgumentsT = RefusedArguments>
class RefusedOperator {
 public:
  using Problem = ProblemT;
  using Arguments = RefusedArguments;
  using Element = std::int8_t;
  using Output = std::int8_t;
  using BiasElement = float;
  using ResidualElement = std::int8_t;

  template <class... More>
  static absl::StatusOr<Operator> Create(const Problem&, const More&...);
  template <class... More>
  absl::Status Run(const ArgumentsT&, const More&...) const;
  template <class... More>
  absl::Status RunOnCpu(const ArgumentsT&, const More&...) const;
  absl::Status CheckArguments(const ArgumentsT&) const;
  const Problem& problem() const;
  std::int64_t src_size() const, dst_size() const, src_bytes() const, dst_bytes() const;
  std::int64_t workspace_size() const, filters() const;
  std::string Describe() const;
};

}  // namespace weft::gemm
