// The GPU that a run is made on, into its Environment. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include "absl/status/statusor.h"
#include "perf/support/nvml.hpp"
#include "perf/support/run_info.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {

// Name, multiprocessors, L2, versions and highest clock into `environment`; the GPU's limits.
// Unavailable if there is no GPU.
absl::StatusOr<arch::DeviceLimits> DescribeGpu(const Nvml& nvml, Environment* environment);

// A state that was read while the GPU was busy: the last one, and the first clock of all.
void NoteState(const GpuState& state, Environment* environment);

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
