// The kernel of a convolution of a plan, as text for rtc::Compile, and that of a bottleneck, for rtc::CompileBottleneck.
#pragma once

#include <string>
#include <vector>

#include "weft/network/plan/plan.hpp"

namespace weft::network {

// Two steps with the same text run by the same kernel.
struct ConvolutionPolicy {
  std::string text{};
  std::vector<std::string>
      values{};  // rtc::Options::values: the numbers of its epilogue that differ by step
};

// The policy of a step with a tile. A bottleneck's numbers are those of its third convolution's epilogue.
ConvolutionPolicy PolicyOf(const Plan& plan, const Step& step, const std::string& tile);

}  // namespace weft::network
