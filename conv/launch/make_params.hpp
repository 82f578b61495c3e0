// Makes the launch of any convolution kernel, with its parameters, from the plan and a run.
#pragma once

#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// The launch of a run that was checked, for a problem that is not empty.
struct ConvLaunch {
  // make: the back end's. status is Internal if CUDA refuses a tensor map.
  ConvLaunch(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run,
             gemm::MakeTensorMap make);
  ConvLaunch(const ConvLaunch&) = delete;  // `launch` points to `params`
  ConvLaunch& operator=(const ConvLaunch&) = delete;

  gemm::ParamsBuffer params;
  gemm::Launch launch;
  absl::Status status;
};

// The epilogue's part of the parameters, which a fused operator has twice: `output` is an OutputParams for
// a destination of these extents and of `padded_k` channels in memory.
void PutConvOutput(const Problem& problem, std::int32_t padded_k, const TensorExtents& dst,
                   const gemm::OutputLayout& at, const ConvRun& run,
                   const gemm::ParamsWriter& output);

}  // namespace weft::conv
