// Makes the parameters of any convolution kernel, from the plan and a run, by their layout.
#pragma once

#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/launch/params_writer.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// Which of PolicyImage::params the kernel of a plan has.
int ParamsOf(const ConvPlan& plan);

// Writes the parameters for a problem that is not empty and a run that was checked to `params`, which
// hold their defaults, and adds to *launch what the kind of kernel asks of it. make: the back end's.
// Internal if CUDA refuses a tensor map.
absl::Status MakeParams(const ConvPlan& plan, const ParamsLayout& at, const ConvRun& run,
                        gemm::MakeTensorMap make, gemm::ParamsWriter params, gemm::Launch* launch);

// The epilogue's part of them, which a fused operator has twice: `output` is an OutputParams for
// a destination of these extents and of `padded_k` channels in memory.
void PutConvOutput(const Problem& problem, std::int32_t padded_k, const TensorExtents& dst,
                   const gemm::OutputLayout& at, const ConvRun& run,
                   const gemm::ParamsWriter& output);

}  // namespace weft::conv
