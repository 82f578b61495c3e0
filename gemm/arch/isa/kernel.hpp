// What both back ends require of a kernel type, checked where a kernel is launched.
//
//   struct MyKernel {
//     struct Params { ... };          // trivially copyable, passed by value to the GPU
//     struct SharedStorage { ... };   // the block's shared memory; never constructed
//     static constexpr int kThreads = 128;              // threads of a block, 1 to 1024
//     static constexpr arch::Requires kRequires{.min = 80};  // the GPUs that can run it
//     static constexpr int kMinBlocksPerSm = 2;         // optional: register budget (default 1)
//     static constexpr int kMinBlocksPerSmBefore90 = 1; // optional: the same for sm_75 to sm_89
//     static constexpr bool kWarpsReturnEarly = true;   // optional: see WarpsReturnEarly
//     WEFT_DEVICE void operator()(const Params&, SharedStorage&, arch::Thread) const;
//   };
#pragma once

#include <cstddef>
#include <type_traits>

#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::arch {

// Which GPUs can run a kernel, by compute capability (major * 10 + minor).
//
// An instruction set ending in a letter (sm_90a: wgmma, setmaxnreg) is of one GPU only; newer ones
// do not run it. `exact` asks for that set: the kernel then needs precisely `min`.
struct Requires {
  int min = 75;  // 75, 80 or 90
  bool exact = false;

  constexpr bool Fits(int compute_capability) const {
    return exact ? compute_capability == min : compute_capability >= min;
  }
};

// Memory of the host's or the GPU's, for LaunchAttributes.
struct MemoryRange {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};

// What a launch may ask for besides a grid. Clusters need a kernel for sm_90.
struct LaunchAttributes {
  // Blocks that run together and see each other's shared memory; each extent divides the grid's,
  // and there are at most 16 (8 on every GPU that has clusters). The block of rank x + cluster.x *
  // (y + cluster.y * z) has these coordinates in its cluster.
  Dim3 cluster = {};

  // Programmatic dependent launch: the kernel may start while earlier ones of its stream still run.
  // It calls Thread::WaitForEarlierGrids before it touches what they write or read; until then it
  // may read only what is `constant`. The CPU executor checks that; the GPU does not.
  bool dependent = false;
  MemoryRange constant[4] = {};

  // Shared memory of a block where the launch needs only the first bytes of SharedStorage; 0: all.
  int shared_bytes = 0;
};

// Most shared memory one block can ask for on any GPU that Weft knows, in bytes (sm_90).
inline constexpr int kMaxSharedBytes = 227 * 1024;

// Most bytes of a kernel's Params, which lie in its parameter space: what CUDA 12.1 and newer have. g++
// keeps to it too, so that what runs on the CPU compiles for the GPU.
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 1
inline constexpr int kMaxParamsBytes = 4096;
#else
inline constexpr int kMaxParamsBytes = 32764;
#endif

// What a kernel may say, and may leave out. Read by the functions below.
template <class Kernel>
concept BoundsBlocks = requires { Kernel::kMinBlocksPerSm; };
template <class Kernel>
concept BoundsBlocksBefore90 = requires { Kernel::kMinBlocksPerSmBefore90; };
template <class Kernel>
concept CountsRegisters = requires { Kernel::kRegisters; };
template <class Kernel>
concept SaysWarpsReturnEarly = requires { Kernel::kWarpsReturnEarly; };

// Blocks that must fit on one multiprocessor together, compiled for sm_90 or for GPUs before it; 1
// unless the kernel says otherwise.
template <class Kernel>
constexpr int MinBlocksPerSm(bool before_90) {
  if constexpr (BoundsBlocksBefore90<Kernel>) {
    return before_90 ? Kernel::kMinBlocksPerSmBefore90 : Kernel::kMinBlocksPerSm;
  } else if constexpr (BoundsBlocks<Kernel>) {
    return Kernel::kMinBlocksPerSm;
  } else {
    return 1;
  }
}

// Registers of a thread, where a kernel counts them (setmaxnreg takes from them and gives back):
// its `static constexpr int kRegisters`; 0 if it does not say.
template <class Kernel>
constexpr int RegistersOf() {
  if constexpr (CountsRegisters<Kernel>) {
    return Kernel::kRegisters;
  } else {
    return 0;
  }
}

// Shared memory of a block of a launch.
template <class Kernel>
[[gnu::visibility("hidden")]] constexpr int SharedBytes(const LaunchAttributes& attributes) {
  constexpr int kAll = sizeof(typename Kernel::SharedStorage);
  return attributes.shared_bytes > 0 ? attributes.shared_bytes : kAll;
}

// Whether warps may return while others still call SyncThreads: `static constexpr bool
// kWarpsReturnEarly = true;` in the kernel. The hardware allows it always; without that word the
// CPU executor takes it for a barrier that was skipped.
template <class Kernel>
constexpr bool WarpsReturnEarly() {
  if constexpr (SaysWarpsReturnEarly<Kernel>) {
    return Kernel::kWarpsReturnEarly;
  } else {
    return false;
  }
}

// Instantiating this checks the kernel; the first line of the compiler's message is the sentence.
template <class Kernel>
struct CheckedKernel {
  static_assert(
      requires { typename Kernel::Params; }, "arch: a kernel needs a nested type `Params`");
  static_assert(
      requires { typename Kernel::SharedStorage; },
      "arch: a kernel needs a nested type `SharedStorage` (an empty struct if it uses none)");
  static_assert(Kernel::kThreads >= 1 && Kernel::kThreads <= 1024,
                "arch: a kernel's kThreads is the size of its block, 1 to 1024");
  static_assert(
      requires { Requires{Kernel::kRequires}; },
      "arch: a kernel needs `static constexpr arch::Requires kRequires{.min = 75}` or the like");
  static_assert(Kernel::kRequires.min == 75 || Kernel::kRequires.min == 80 ||
                    Kernel::kRequires.min == 89 || Kernel::kRequires.min == 90,
                "arch: a kernel's kRequires.min is 75, 80, 89 or 90");
  static_assert(!Kernel::kRequires.exact || Kernel::kRequires.min == 90,
                "arch: a kernel's kRequires is exact for 90 only: sm_90a is the one instruction "
                "set of a single GPU that Weft knows");
  static_assert(std::is_trivially_copyable_v<typename Kernel::Params>,
                "arch: a kernel's Params are copied to the GPU byte by byte: make them trivially "
                "copyable");
  static_assert(
      sizeof(typename Kernel::Params) <= kMaxParamsBytes,
      "weft: the parameters of a kernel, an operator's functors with their members among "
      "them, exceed the 32764 bytes (4096 before CUDA 12.1) that a launch can pass; let a "
      "functor hold the address of its table, in GPU memory, instead of the table");
  static_assert(std::is_trivially_default_constructible_v<typename Kernel::SharedStorage> &&
                    std::is_trivially_destructible_v<typename Kernel::SharedStorage>,
                "arch: a kernel's SharedStorage is raw memory: its members may have no "
                "constructor, initializer or destructor");
  static_assert(alignof(typename Kernel::SharedStorage) <= 1024,
                "arch: a kernel's SharedStorage is aligned to at most 1024 bytes");
  static_assert(sizeof(typename Kernel::SharedStorage) <= kMaxSharedBytes,
                "arch: a kernel's SharedStorage exceeds 227 KB, the most any GPU offers a block");
  static constexpr bool kOk = true;
};

}  // namespace weft::arch
