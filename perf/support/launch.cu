#include "perf/support/launch.hpp"

#include "weft/gemm/arch/cuda_launch.cuh"

namespace weft::perf::internal {
namespace {

template <class Kernel>
arch::LaunchResult OnCuda(typename Kernel::Params params, Stream stream) {
  params.blocks = kBlocks;
  return arch::LaunchOnCuda<Kernel>({kBlocks, 1, 1}, params, stream);
}

}  // namespace

arch::LaunchResult Launch(FillPlanarParams params, Stream stream) {
  return OnCuda<FillPlanarKernel>(params, stream);
}

arch::LaunchResult Launch(CompareParams params, Stream stream) {
  return OnCuda<CompareKernel>(params, stream);
}

arch::LaunchResult Launch(const CopyParams& params, Stream stream) {
  return arch::LaunchOnCuda<CopyKernel>({params.blocks, 1, 1}, params, stream, {.dependent = true});
}

arch::LaunchResult Launch(const Dp4aParams& params, int blocks, Stream stream) {
  return arch::LaunchOnCuda<Dp4aKernel>({blocks, 1, 1}, params, stream);
}

arch::LaunchResult Launch(ConvertParams params, bool from_half, bool to_half, Stream stream) {
  if (from_half) return OnCuda<ConvertKernel<Half, std::int8_t>>(params, stream);
  return to_half ? OnCuda<ConvertKernel<std::int8_t, Half>>(params, stream)
                 : OnCuda<ConvertKernel<std::int8_t, std::int8_t>>(params, stream);
}

arch::LaunchResult Launch(ReformatParams params, int src_word, int dst_word, Stream stream) {
  if (dst_word == 4) return OnCuda<ReformatKernel<4, 4>>(params, stream);
  return src_word == 4 ? OnCuda<ReformatKernel<4, 16>>(params, stream)
                       : OnCuda<ReformatKernel<16, 16>>(params, stream);
}

}  // namespace weft::perf::internal
