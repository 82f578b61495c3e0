// Running a kernel on the CPU: what to run it under, and what came of it.
//
// Needs no GPU and no CUDA. A kernel that breaks a rule of the hardware (deadlock, divergent
// barrier or collective, misaligned or out-of-window access, misuse of a barrier) does not end the
// process: the launch stops and its report says what happened. README.md says what is checked.
#pragma once

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/cpu/executor/cpu_options.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"

#if defined(WEFT_CUDA_BACKEND)
#error "cpu_launch.hpp: kernels compiled by nvcc are launched with cuda_launch.cuh"
#endif

namespace weft::arch {

inline namespace WEFT_BACKEND {

template <class Kernel>
[[gnu::visibility("hidden")]] void CpuEntry(const void* params, void* shared, cpu::Lane* lane) {
  Kernel()(*static_cast<const typename Kernel::Params*>(params),
           *static_cast<typename Kernel::SharedStorage*>(shared), Thread{{lane}, {}});
}

// Runs the kernel and returns when all its blocks have ended, or one has failed. `grid` is in
// blocks. Thread-safe: launches share nothing but pooled stacks.
template <class Kernel>
[[gnu::visibility("hidden")]] CpuReport LaunchOnCpu(
    Dim3 grid, const typename Kernel::Params& params,
    const CpuOptions& options = CpuOptions::FromEnvironment(),
    const LaunchAttributes& attributes = {}) {
  static_assert(CheckedKernel<Kernel>::kOk);
  return cpu::RunGrid({.grid = grid,
                       .threads = Kernel::kThreads,
                       .shared_bytes = static_cast<std::size_t>(SharedBytes<Kernel>(attributes)),
                       .registers = RegistersOf<Kernel>(),
                       .engines = Kernel::kRequires.min >= 90,
                       .warps_return_early = WarpsReturnEarly<Kernel>(),
                       .attributes = attributes,
                       .entry = &CpuEntry<Kernel>,
                       .params = &params},
                      options);
}

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
