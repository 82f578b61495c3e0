#include "examples/condconv/routing.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

weft::arch::LaunchResult LaunchRouting(const RoutingParams& params, weft::Stream stream) {
  return weft::arch::LaunchOnCuda<RoutingKernel>({static_cast<int>(params.extents.n), 1, 1}, params,
                                                 stream);
}
