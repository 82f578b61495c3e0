// Starts a Bottleneck operator, of any policy, as conv/launch/start.hpp starts a convolution.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/conv/bottleneck/bottleneck_params.hpp"
#include "weft/conv/bottleneck/bottleneck_plan.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// Offsets in bytes from the beginning of a BottleneckParams.
struct BottleneckLayout {
  std::int32_t bytes = 0;  // of all parameters
  std::int32_t maps = 0, tiling = 0;
  std::int32_t output[kBottleneckParts] = {};  // by BottleneckPartName
  gemm::OutputLayout of_output[kBottleneckParts];
};

// A policy as values.
struct BottleneckImage {
  BottleneckFacts facts;
  PolicyImage part[kBottleneckParts];
  BottleneckLayout at;
  const void* defaults = nullptr;  // default-constructed parameters
};

// The parts of a run, of which the first one has the source and the last one the destination.
struct BottleneckRun {
  ConvRun part[kBottleneckParts];
  std::int32_t padding = 0;
  bool filters_are_constant = false;
};

namespace internal {

WEFT_OFFSETS_BEGIN

template <class Params>
constexpr BottleneckLayout BottleneckLayoutOf() {
  BottleneckLayout at;
  at.bytes = sizeof(Params);
  at.maps = WEFT_OFFSET(Params, maps);
  at.tiling = WEFT_OFFSET(Params, tiling);
  at.output[0] = WEFT_OFFSET(Params, first);
  at.output[1] = WEFT_OFFSET(Params, second);
  at.output[2] = WEFT_OFFSET(Params, projection);
  at.output[3] = WEFT_OFFSET(Params, third);
  at.of_output[0] = gemm::OutputLayoutOf<decltype(Params::first)>();
  at.of_output[1] = gemm::OutputLayoutOf<decltype(Params::second)>();
  if constexpr (!std::is_same_v<decltype(Params::projection), NoBottleneckOutput>) {
    at.of_output[2] = gemm::OutputLayoutOf<decltype(Params::projection)>();
  }
  at.of_output[3] = gemm::OutputLayoutOf<decltype(Params::third)>();
  return at;
}

WEFT_OFFSETS_END

}  // namespace internal

// The convolution of a part.
Problem PartOf(const BottleneckProblem& problem, BottleneckPartName part);

// Everything that is checked before a launch.
absl::Status CheckArguments(const BottleneckImage& image, const BottleneckPlan& plan,
                            const BottleneckRun& run);

// The launch of a run that was checked, for a problem that is not empty.
struct BottleneckLaunch {
  // make: the back end's. status is Internal if CUDA refuses a tensor map.
  BottleneckLaunch(const BottleneckImage& image, const BottleneckPlan& plan,
                   const BottleneckRun& run, gemm::MakeTensorMap make);
  BottleneckLaunch(const BottleneckLaunch&) = delete;  // `launch` points to `params`
  BottleneckLaunch& operator=(const BottleneckLaunch&) = delete;

  gemm::ParamsBuffer params;
  gemm::Launch launch;
  absl::Status status;
};

// Checks the run and starts the kernel. start: BackEnd::Run<PolicyT>.
template <class BackEnd>
absl::Status Start(const BottleneckImage& image, const BottleneckPlan& plan,
                   const BottleneckRun& run, const BackEnd& on, gemm::RunFunction<BackEnd> start);

}  // namespace weft::conv
