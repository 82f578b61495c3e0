#include <iterator>

#include "perf/block_bench/kernels.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf {
namespace {

template <CubeWay kWay, int kIndex = 0, class Element>
arch::LaunchResult Launch(int size, int products, const CubeParams<Element>& params,
                          Stream stream) {
  if constexpr (kIndex < static_cast<int>(std::size(kCubeSizes))) {
    if (size != kIndex) return Launch<kWay, kIndex + 1>(size, products, params, stream);
    if constexpr (HasWay<Element>(kWay, kIndex)) {
      using Kernel = CubeKernel<Element, kCubeSizes[kIndex], kWay>;
      return arch::LaunchOnCuda<Kernel>({products}, params, stream);
    }
  }
  return {};  // never here
}

}  // namespace

arch::LaunchResult LaunchCubes(CubeWay way, int size, int products,
                               const CubeParams<std::int8_t>& params, Stream stream) {
  return way == CubeWay::kWgmma ? Launch<CubeWay::kWgmma>(size, products, params, stream)
                                : Launch<CubeWay::kWhole>(size, products, params, stream);
}
arch::LaunchResult LaunchCubes(CubeWay way, int size, int products, const CubeParams<Half>& params,
                               Stream stream) {
  return way == CubeWay::kWgmma ? Launch<CubeWay::kWgmma>(size, products, params, stream)
                                : Launch<CubeWay::kWhole>(size, products, params, stream);
}
arch::LaunchResult LaunchCubes(CubeWay way, int size, int products, const CubeParams<float>& params,
                               Stream stream) {
  return way == CubeWay::kGlobal ? Launch<CubeWay::kGlobal>(size, products, params, stream)
                                 : Launch<CubeWay::kWhole>(size, products, params, stream);
}

}  // namespace weft::perf
