// Starts a DepthwisePointwise operator, of any policy, as conv/launch/start.hpp starts a convolution.
#pragma once

#include <cstdint>

#include "weft/conv/depthwise_pointwise/depthwise_pointwise_kernel.hpp"
#include "weft/conv/depthwise_pointwise/depthwise_pointwise_plan.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// Offsets in bytes from the beginning of a DepthwisePointwiseParams.
struct FusedLayout {
  std::int32_t bytes = 0;  // of all parameters
  std::int32_t iterator = 0, filter = 0, k_tile_bytes = 0, k_tiles = 0;
  std::int32_t middle = 0, output = 0;
  gemm::OutputLayout of_middle, of_output;
};

// A policy as values. first: its depthwise half, second: its pointwise half.
struct FusedImage {
  DepthwisePointwiseFacts facts;
  PolicyImage first, second;
  FusedLayout at;
  const void* defaults = nullptr;  // default-constructed parameters
};

// The halves of a run; of `second` the source is the tensor between them, which no run has.
struct FusedRun {
  ConvRun first, second;
};

namespace internal {

WEFT_OFFSETS_BEGIN

template <class Params>
constexpr FusedLayout FusedLayoutOf() {
  FusedLayout at;
  at.bytes = sizeof(Params);
  at.iterator = WEFT_OFFSET(Params, iterator);
  at.filter = WEFT_OFFSET(Params, filter);
  at.k_tile_bytes = WEFT_OFFSET(Params, k_tile_bytes);
  at.k_tiles = WEFT_OFFSET(Params, k_tiles);
  at.middle = WEFT_OFFSET(Params, middle);
  at.output = WEFT_OFFSET(Params, output);
  at.of_middle = gemm::OutputLayoutOf<decltype(Params::middle)>();
  at.of_output = gemm::OutputLayoutOf<decltype(Params::output)>();
  return at;
}

WEFT_OFFSETS_END

}  // namespace internal

// Everything that is checked before a launch.
absl::Status CheckArguments(const FusedImage& image, const DepthwisePointwisePlan& plan,
                            const FusedRun& run);

// Checks the run and starts the plan's kernel. start: BackEnd::Run<PolicyT>.
template <class BackEnd>
absl::Status Start(const FusedImage& image, const DepthwisePointwisePlan& plan, const FusedRun& run,
                   const BackEnd& on, gemm::RunFunction<BackEnd> start);

}  // namespace weft::conv
