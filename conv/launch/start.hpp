// Starts a convolution of any policy: checks the run, makes the kernel's parameters and hands these to
// a back end. It knows the policy as an image, so that it is compiled once for each back end.
#pragma once

#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/plan/conv_plan.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// Everything that is checked before a launch. Where dst has no elements, any run is right.
absl::Status CheckArguments(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run);

// Checks the run and starts the plan's kernel. start: BackEnd::Run<PolicyT>, of gemm::GpuBackEnd or
// gemm::CpuBackEnd. Where dst has no elements it does nothing.
template <class BackEnd>
absl::Status Start(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run,
                   const BackEnd& on, gemm::RunFunction<BackEnd> start);

}  // namespace weft::conv
