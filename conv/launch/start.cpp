#include "weft/conv/launch/start.hpp"

#include "weft/conv/launch/make_params.hpp"

namespace weft::conv {

template <class BackEnd>
absl::Status Start(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run,
                   const BackEnd& on, gemm::RunFunction<BackEnd> start) {
  if (absl::Status s = CheckArguments(image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const ConvLaunch made(image, plan, run, BackEnd::kMakeMap);
  if (!made.status.ok()) return made.status;
  return (on.*start)("conv", image.facts, made.launch);
}

template absl::Status Start(const PolicyImage&, const ConvPlan&, const ConvRun&,
                            const gemm::GpuBackEnd&, gemm::RunFunction<gemm::GpuBackEnd>);
template absl::Status Start(const PolicyImage&, const ConvPlan&, const ConvRun&,
                            const gemm::CpuBackEnd&, gemm::RunFunction<gemm::CpuBackEnd>);

}  // namespace weft::conv
