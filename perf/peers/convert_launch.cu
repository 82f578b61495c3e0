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

arch::LaunchResult LaunchReformat(ReformatParams params, int src_word, int dst_word,
                                  Stream stream) {
  params.blocks = 1056;
  const arch::Dim3 grid{params.blocks, 1, 1};
  if (dst_word == 4) return arch::LaunchOnCuda<ReformatKernel<4, 4>>(grid, params, stream);
  return src_word == 4 ? arch::LaunchOnCuda<ReformatKernel<4, 16>>(grid, params, stream)
                       : arch::LaunchOnCuda<ReformatKernel<16, 16>>(grid, params, stream);
}

}  // namespace weft::perf::internal
