// Launches of this folder's kernels on the GPU, for g++ code; launch.cu defines them. Addresses are
// GPU addresses; `blocks` is filled in.
#pragma once

#include "perf/support/data_kernels.hpp"
#include "perf/support/format_kernels.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::perf::internal {

inline constexpr int kBlocks = 1056;  // 8 for each of 132 multiprocessors

arch::LaunchResult Launch(FillPlanarParams params, Stream stream);
arch::LaunchResult Launch(CompareParams params, Stream stream);
arch::LaunchResult Launch(const CopyParams& params, Stream stream);  // of params.blocks
arch::LaunchResult Launch(const Dp4aParams& params, int blocks, Stream stream);
// int8 to int8, int8 to half, half to int8.
arch::LaunchResult Launch(ConvertParams params, bool from_half, bool to_half, Stream stream);
// ReformatKernel of these words, 16 or 4 bytes.
arch::LaunchResult Launch(ReformatParams params, int src_word, int dst_word, Stream stream);

}  // namespace weft::perf::internal
