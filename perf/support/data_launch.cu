#include "perf/support/data_launch.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf::internal {

static_assert(DataKernel::kThreads == kDataThreads);
static_assert(Dp4aKernel::kChains * Dp4aKernel::kUnroll == kDp4aPerRound);

arch::LaunchResult Launch(const FillPlanarParams& params, Stream stream) {
  return arch::LaunchOnCuda<FillPlanarKernel>({params.blocks, 1, 1}, params, stream);
}

arch::LaunchResult Launch(const CompareParams& params, Stream stream) {
  return arch::LaunchOnCuda<CompareKernel>({params.blocks, 1, 1}, params, stream);
}

arch::LaunchResult Launch(const Dp4aParams& params, int blocks, Stream stream) {
  return arch::LaunchOnCuda<Dp4aKernel>({blocks, 1, 1}, params, stream);
}

}  // namespace weft::perf::internal
