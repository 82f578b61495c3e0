#include "examples/ladder/launch.hpp"

#include "examples/ladder/steps.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace ladder {

arch::LaunchResult LaunchOnGpu(int step, const Product& product, weft::Stream stream) {
  return VisitStep(step, [&]<class Kernel>(std::type_identity<Kernel>) {
    typename Kernel::Params params{};
    const auto made = MakeParams<Kernel>(product, arch::EncodeTensorMap, &params);
    if (!made.ok()) return made;
    return arch::LaunchOnCuda<Kernel>(GridOf<Kernel>(product), params, stream);
  });
}

}  // namespace ladder
