// What a convolution of a plan reads besides tensors: its packed filter, bias, scales and the correction for its
// source's zero point, side by side in the memory of a network's constants.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
  std::int64_t table_at = -1;
  // zero_point is the output's where the chain ends in RoundFirst, else 0. gamma is that of an addition or a residual.
  float zero_point = 0.0f, gamma = 1.0f;
  // Numbers of the epilogue's stages, by their names in PolicyOf's values.
  std::vector<std::pair<std::string, float>> numbers{};

  // The arguments of a run whose constants lie at `base`.
  rtc::Arguments At(const char* base) const;
};

// Appends the constants of a step that is a convolution to *bytes, each at a multiple of 256. The errors of PackFilter and
// MakeSourceCorrection.
absl::StatusOr<ConvolutionConstants> AppendConstants(const Graph& graph, const Plan& plan,
                                                     const Step& step, std::string* bytes);

// Those of a bottleneck's convolutions; projection is as it is by default where there is none.
struct BlockConstants {
  ConvolutionConstants first{}, second{}, third{}, projection{};
};

// The same of a bottleneck, whose biases have the sources' zero points, also where there is padding.
absl::StatusOr<BlockConstants> AppendConstants(const Graph& graph, const BottleneckStep& step,
                                               std::string* bytes);

}  // namespace weft::network
