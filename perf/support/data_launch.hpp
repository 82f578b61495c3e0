// The launches behind device_data.hpp; data_launch.cu defines them.
#pragma once

#include "perf/support/data_kernels.hpp"
#include "weft/gemm/arch/launch_result.hpp"

namespace weft::perf::internal {

arch::LaunchResult Launch(const FillPlanarParams& params, Stream stream);
arch::LaunchResult Launch(const CompareParams& params, Stream stream);
arch::LaunchResult Launch(const Dp4aParams& params, int blocks, Stream stream);

// The constants of the kernels, for g++ code.
inline constexpr int kDataThreads = 256;
inline constexpr int kDp4aPerRound = 8 * 16;  // of each thread

}  // namespace weft::perf::internal
