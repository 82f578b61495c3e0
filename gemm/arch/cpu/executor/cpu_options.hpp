// How the CPU executor runs a kernel, and what it reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"

namespace weft::arch {

// When an asynchronous copy moves its bytes and a warpgroup product is made: when issued, or not
// before the wait that promises it.
enum class Copies { kEager, kDeferred };

// Which of the lanes that can run does so when another has to wait.
enum class Schedule {
  kForward,   // the next lane of the warp, then the next warp
  kReverse,   // the other way round
  kPriority,  // warps have a random order of precedence: the first runs as far ahead as it can
  kRandom,    // any lane, and lanes are also interrupted between operations
};

struct CpuOptions {
  Copies copies = Copies::kDeferred;
  Schedule schedule = Schedule::kForward;
  uint64_t seed = 1;   // of kPriority, kRandom and the garbage in fresh shared memory
  int workers = 0;     // OS threads that run blocks side by side; 0: one per processor, at most 32
  bool poison = true;  // fill fresh shared memory and targets of copies in flight with garbage
  // The stack of a lane in bytes, 64 KiB to 1 GiB: of the kernel and the functors that it calls. What needs more ends the
  // program with a sentence and SIGSEGV.
  int64_t stack_bytes = 256 * 1024;

  // A sentence if the environment held something that cannot be understood; a launch with it fails.
  std::string invalid = {};

  // The defaults, overridden by WEFT_CPU_COPIES (eager, deferred), WEFT_CPU_SCHEDULE (forward,
  // reverse, priority, random), WEFT_CPU_SEED, WEFT_CPU_WORKERS and WEFT_CPU_STACK (bytes).
  static CpuOptions FromEnvironment();
};

// Loads or stores of global memory.
struct GlobalTraffic {
  int64_t bytes = 0;  // over the whole launch

  // Of the first 1024 of each lane of block (0, 0, 0): their bytes, and how many sectors of 32 bytes
  // the warp-wide accesses touch, which is what memory moves.
  int64_t sampled_bytes = 0;
  int64_t sampled_sectors = 0;

  // Bytes of the sectors that all of them touch, if they are like the sample.
  double MovedBytes() const {
    return sampled_bytes > 0 ? 32.0 * sampled_sectors / sampled_bytes * bytes : 0.0;
  }
};

// Counts over the whole launch, unless stated otherwise.
struct CpuStats {
  int64_t blocks = 0;
  int64_t switches = 0;     // from fiber to fiber
  int64_t collectives = 0;  // warp-wide operations, barriers included
  int64_t mma = 0;          // warp-wide matrix products
  int64_t wgmma = 0;        // a warp's quarters of warpgroup products
  int64_t bulk_copies = 0;  // by TMA

  // A phase is a group of lanes that the hardware serves in one pass over the 32 banks if no two
  // of them want different words of one bank; a wavefront is a pass. Wavefronts per phase: 1.00
  // without bank conflicts.
  int64_t ldmatrix_phases = 0;
  int64_t ldmatrix_wavefronts = 0;

  // The same for LoadShared and StoreShared, in block (0, 0, 0) only and for the first 1024 such
  // accesses of each of its lanes. The n-th execution of a source line by each lane of a warp
  // counts as one warp-wide access.
  int64_t shared_phases = 0;
  int64_t shared_wavefronts = 0;

  // Global memory: what lanes load (cp.async included) and store, and the bytes that TMA
  // reads.
  GlobalTraffic global_loads, global_stores;
  int64_t bulk_bytes = 0;
};

struct CpuReport {
  // Empty if all blocks ran to their end. Otherwise the first line says which rule was broken, and
  // the following ones where (file, line, block, warp, lane) and where the other lanes stand. If
  // several blocks fail, it is the one with the lowest index, whatever the number of workers.
  std::string error;
  CpuStats stats;

  bool ok() const { return error.empty(); }
};

// to += from
void Add(const CpuStats& from, CpuStats* to);

namespace cpu {

struct Lane;

// A kernel with its type erased.
struct GridLaunch {
  Dim3 grid;
  int threads;              // of a block
  size_t shared_bytes;      // of a block
  int registers;            // of a thread when the kernel starts; 0: an equal share of the file
  bool engines;             // the kernel may use what is new in sm_90
  bool warps_return_early;  // kernel.hpp
  LaunchAttributes attributes;
  void (*entry)(const void* params, void* shared, Lane* lane);
  const void* params;
};

// Kernels and the executor share containers of the standard library, which are others in its debug mode. The linker
// names what is missing where a program has not what Weft was built with.
#if defined(_GLIBCXX_DEBUG)
inline namespace needs_a_Weft_built_with_GLIBCXX_DEBUG {
#else
inline namespace needs_a_Weft_built_without_GLIBCXX_DEBUG {
#endif

// The body of LaunchOnCpu.
CpuReport RunGrid(const GridLaunch& launch, const CpuOptions& options);

}  // namespace needs_a_Weft_built_with(out)_GLIBCXX_DEBUG

}  // namespace cpu

}  // namespace weft::arch
