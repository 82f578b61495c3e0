// The kernel of a convolution of a plan, as text for rtc::Compile.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "weft/conv/choose/tile_model.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {

// What a network runs on.
using Machine = std::variant<conv::GpuFacts, conv::CpuFacts>;

// Two steps with the same text run by the same kernel.
struct ConvolutionPolicy {
  std::string text{};
  std::vector<std::string>
      values{};  // rtc::Options::values: the numbers of its epilogue that differ by step
};

// The name of the tile, such as "Mma128x64", that the model of times chooses for a step. The errors are those of
// conv::Dispatch, with the name of the step.
absl::StatusOr<std::string> ChooseTile(const Plan& plan, const Step& step, const Machine& machine);

// The policy of a step with a tile.
ConvolutionPolicy PolicyOf(const Plan& plan, const Step& step, const std::string& tile);

}  // namespace weft::network
