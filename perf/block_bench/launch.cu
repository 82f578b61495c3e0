#include <iterator>

#include "perf/block_bench/kernels.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf {
namespace {

template <CubeWay kWay, class Element, int kIndex = 0>
arch::LaunchResult Launch(int size, int products, const CubeParams<Element>& params,
                          Stream stream) {
  if constexpr (kIndex < static_cast<int>(std::size(kCubeSizes))) {
    if (size != kIndex) return Launch<kWay, Element, kIndex + 1>(size, products, params, stream);
    if constexpr (HasWay<Element>(kWay, kIndex)) {
      using Kernel = CubeKernel<Element, kCubeSizes[kIndex], kWay>;
      return arch::LaunchOnCuda<Kernel>({products}, params, stream);
    }
  }
  return {};  // never here
}

}  // namespace

template <class Element>
arch::LaunchResult LaunchCubes(CubeWay way, int size, int products,
                               const CubeParams<Element>& params, Stream stream) {
  constexpr CubeWay kOther = std::is_same_v<Element, float> ? CubeWay::kGlobal : CubeWay::kWgmma;
  return way == CubeWay::kWhole ? Launch<CubeWay::kWhole, Element>(size, products, params, stream)
                                : Launch<kOther, Element>(size, products, params, stream);
}
template arch::LaunchResult LaunchCubes(CubeWay, int, int, const CubeParams<std::int8_t>&, Stream);
template arch::LaunchResult LaunchCubes(CubeWay, int, int, const CubeParams<Half>&, Stream);
template arch::LaunchResult LaunchCubes(CubeWay, int, int, const CubeParams<float>&, Stream);

}  // namespace weft::perf
