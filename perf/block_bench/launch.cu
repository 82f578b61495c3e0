#include <iterator>

#include "perf/block_bench/kernels.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf {
namespace {

template <class Element, int kIndex = 0>
arch::LaunchResult Launch(int size, int products, const CubeParams<Element>& params,
                          Stream stream) {
  if constexpr (kIndex + 1 < static_cast<int>(std::size(kCubeSizes))) {
    if (size != kIndex) return Launch<Element, kIndex + 1>(size, products, params, stream);
  }
  return arch::LaunchOnCuda<CubeKernel<Element, kCubeSizes[kIndex]>>({products}, params, stream);
}

}  // namespace

arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<std::int8_t>& params,
                               Stream stream) {
  return Launch(size, products, params, stream);
}
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<Half>& params,
                               Stream stream) {
  return Launch(size, products, params, stream);
}
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<float>& params,
                               Stream stream) {
  return Launch(size, products, params, stream);
}

}  // namespace weft::perf
