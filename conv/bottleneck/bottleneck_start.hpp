// Starts a Bottleneck operator, of any policy, as conv/launch/start.hpp starts a convolution.
#pragma once

#include <cstdint>

#include "weft/conv/bottleneck/bottleneck_image.hpp"
#include "weft/conv/bottleneck/bottleneck_plan.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The parts of a run, of which the first one has the source and the last one the destination.
struct BottleneckRun {
  ConvRun part[kBottleneckParts];
  std::int32_t padding = 0;
  bool filters_are_constant = false;
};

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
