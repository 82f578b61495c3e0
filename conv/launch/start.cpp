#include "weft/conv/launch/start.hpp"

#include <cstring>

#include "weft/conv/launch/make_params.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"

namespace weft::conv {

template <class BackEnd>
absl::Status Start(const PolicyImage& image, const ConvPlan& plan, const ConvRun& run,
                   const BackEnd& on, gemm::RunFunction<BackEnd> start) {
  if (absl::Status s = CheckArguments(image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const ParamsImage& params = image.params[ParamsOf(plan)];
  alignas(128) unsigned char bytes[arch::kMaxParamsBytes];  // not initialised: few of them are used
  std::memcpy(bytes, params.defaults, static_cast<std::size_t>(params.at.bytes));
  gemm::Launch launch = {0, bytes, plan.grid()};
  if (absl::Status s =
          MakeParams(plan, params.at, run, BackEnd::kMakeMap, gemm::ParamsWriter(bytes), &launch);
      !s.ok()) {
    return s;
  }
  return (on.*start)("conv", image.facts, launch);
}

template absl::Status Start(const PolicyImage&, const ConvPlan&, const ConvRun&,
                            const gemm::GpuBackEnd&, gemm::RunFunction<gemm::GpuBackEnd>);
template absl::Status Start(const PolicyImage&, const ConvPlan&, const ConvRun&,
                            const gemm::CpuBackEnd&, gemm::RunFunction<gemm::CpuBackEnd>);

}  // namespace weft::conv
