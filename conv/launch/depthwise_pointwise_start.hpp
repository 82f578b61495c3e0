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

// a: the depthwise half's iterator; b: the pointwise half's filter. middle: the depthwise half's OutputParams.
struct FusedLayout : gemm::ParamsLayout {
  std::int32_t k_tile_bytes = gemm::kNoPart, middle = gemm::kNoPart;
  gemm::OutputLayout of_middle;
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
  gemm::internal::AddOutput<Params>(at);
  at.a.at = WEFT_OFFSET(Params, iterator);
  at.b.at = WEFT_OFFSET(Params, filter);
  at.k_tile_bytes = WEFT_OFFSET(Params, k_tile_bytes);
  at.k_tiles = WEFT_OFFSET(Params, k_tiles);
  at.middle = WEFT_OFFSET(Params, middle);
  at.of_middle = gemm::OutputLayoutOf<decltype(Params::middle)>();
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
