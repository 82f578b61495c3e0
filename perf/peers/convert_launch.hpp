// The launches of convert_kernels.hpp and reformat_kernels.hpp; convert_launch.cu defines them.
#pragma once

#include "perf/peers/convert_kernels.hpp"
#include "perf/peers/reformat_kernels.hpp"
#include "weft/gemm/arch/launch_result.hpp"

namespace weft::perf::internal {

// int8 to int8, int8 to half, half to int8. Addresses are GPU addresses; `blocks` is filled in.
arch::LaunchResult LaunchConvert(ConvertParams params, bool from_half, bool to_half, Stream stream);

// ReformatKernel of these words, 16 or 4 bytes; `blocks` is filled in.
arch::LaunchResult LaunchReformat(ReformatParams params, int src_word, int dst_word, Stream stream);

}  // namespace weft::perf::internal
