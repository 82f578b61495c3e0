// What a convolution of a plan reads besides tensors: its packed filter, bias, scales and the correction for its
// source's zero point, side by side in the memory of a network's constants.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/zero_point/source_correction.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/plan/plan.hpp"
#include "weft/rtc/operator.hpp"

namespace weft::network {

struct ConvolutionConstants {
  // Without addresses: what lies where follows, in bytes from the beginning of all constants.
  rtc::Filter filter{};
  conv::SourceCorrection correction{};
  std::int64_t filter_at = 0, bias_at = 0, scales_at = 0, correction_at = -1;  // -1: there is none
  // Numbers of the epilogue. Without an addition zero_point is the output's; with one it is 0, and gamma and the
  // values of QuantizeSteps and QuantizedAdd are set.
  float zero_point = 0.0f, gamma = 1.0f;
  float steps_zero_point = 0.0f, sum_ratio = 1.0f, fixed = 0.0f;

  // The arguments of a run whose constants lie at `base`.
  rtc::Arguments At(const char* base) const;
};

// Appends the constants of a step to *bytes, each at a multiple of 256. The errors of PackFilter and
// MakeSourceCorrection.
absl::StatusOr<ConvolutionConstants> AppendConstants(const Graph& graph, const Plan& plan,
                                                     const Step& step, std::string* bytes);

}  // namespace weft::network
