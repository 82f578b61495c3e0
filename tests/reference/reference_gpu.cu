#include "tests/reference/reference_gpu.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::reference {

template <class Activation>
arch::LaunchResult ConvolveOnGpu(const ConvolveParams<Activation>& params, Stream stream) {
  return arch::LaunchOnCuda<ConvolveKernel<Activation>>({ConvolveBlocks(params), 1, 1}, params,
                                                        stream);
}

template arch::LaunchResult ConvolveOnGpu(const ConvolveParams<NoActivation>&, Stream);
template arch::LaunchResult ConvolveOnGpu(const ConvolveParams<ReluActivation>&, Stream);
template arch::LaunchResult ConvolveOnGpu(const ConvolveParams<HSwishActivation>&, Stream);

}  // namespace weft::reference
