#include <iterator>

#include "perf/block_bench/kernels.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf {
namespace {

template <bool kWgmma, int kIndex = 0, class Element>
arch::LaunchResult Launch(int size, int products, const CubeParams<Element>& params,
                          Stream stream) {
  if constexpr (kIndex + 1 < static_cast<int>(std::size(kCubeSizes))) {
    if (size != kIndex || (kWgmma && !HasWgmma(kIndex))) {
      return Launch<kWgmma, kIndex + 1>(size, products, params, stream);
    }
  }
  if constexpr (!kWgmma || HasWgmma(kIndex)) {
    using Kernel = CubeKernel<Element, kCubeSizes[kIndex], kWgmma>;
    return arch::LaunchOnCuda<Kernel>({products}, params, stream);
  } else {
    return {};  // never here
  }
}

}  // namespace

arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<std::int8_t>& params,
                               Stream stream) {
  return Launch<false>(size, products, params, stream);
}
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<Half>& params,
                               Stream stream) {
  return Launch<false>(size, products, params, stream);
}
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<float>& params,
                               Stream stream) {
  return Launch<false>(size, products, params, stream);
}
arch::LaunchResult LaunchCubesByWgmma(int size, int products, const CubeParams<std::int8_t>& params,
                                      Stream stream) {
  return Launch<true>(size, products, params, stream);
}
arch::LaunchResult LaunchCubesByWgmma(int size, int products, const CubeParams<Half>& params,
                                      Stream stream) {
  return Launch<true>(size, products, params, stream);
}

}  // namespace weft::perf
