#include "perf/peers/convert_launch.hpp"
#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf::internal {

arch::LaunchResult LaunchConvert(ConvertParams params, bool from_half, bool to_half,
                                 Stream stream) {
  params.blocks = 1056;  // 8 for each of 132 multiprocessors
  const arch::Dim3 grid{params.blocks, 1, 1};
  if (from_half) {
    return arch::LaunchOnCuda<ConvertKernel<std::uint16_t, std::int8_t>>(grid, params, stream);
  }
  return to_half
             ? arch::LaunchOnCuda<ConvertKernel<std::int8_t, std::uint16_t>>(grid, params, stream)
             : arch::LaunchOnCuda<ConvertKernel<std::int8_t, std::int8_t>>(grid, params, stream);
}

}  // namespace weft::perf::internal
