// The one header a kernel includes to reach the hardware: weft::arch::Thread.
//
// A kernel is a functor `void operator()(const Params&, SharedStorage&, arch::Thread) const` (see
// kernel.hpp) and does everything that depends on the machine through its Thread: indices,
// barriers, warp exchange, shared and global memory, asynchronous copies, matrix instructions.
// Under nvcc the methods are PTX; under any other compiler they drive the CPU executor, which runs
// each thread of a block as a fiber and checks the rules of the hardware (README.md).
#pragma once

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"  // a kernel names arch::Requires

#if defined(WEFT_CUDA_BACKEND)
#include "weft/gemm/arch/cuda/cuda_thread.hpp"
#else
#include "weft/gemm/arch/cpu/instructions/cpu_thread.hpp"
#endif
