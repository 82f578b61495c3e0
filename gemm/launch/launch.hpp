// How an operator's kernels are launched, on either back end: the seam between g++ code, which
// holds operators, and nvcc code, which holds GPU kernels.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/layouts/base/abseil.hpp"

#if defined(WEFT_CPU_BACKEND)
#include "weft/gemm/arch/cpu_launch.hpp"
#endif

namespace weft::gemm {

// Chooses among the policies of a family (gemm/dispatch.hpp).
template <class FamilyT>
class Dispatch;

// Makes a kernel's tensor map: EncodeTensorMap for the GPU, MakeCpuTensorMap for the CPU.
using MakeTensorMap = arch::LaunchResult (*)(const arch::TensorMapSpec&, arch::TensorMap*);

// What a caller of Run may choose about the launch.
struct LaunchOptions {
  // The kernel may start while earlier ones of the stream still run, and waits for them before it
  // touches what they may have written (programmatic dependent launch, on Hopper). Kernels of
  // wgmma_sm90 do so; those of mma_sm80 and simt_async do where they have no residual and cp.async
  // copies their operands unchanged; those of Mainloop::kOther do if they say so. All others start
  // when earlier ones have ended.
  bool dependent = true;
};

namespace internal {

// Whether other files can name PolicyT, as the file with its GPU code must: it, and what it is made
// of, stands in no anonymous namespace and no function, and is no lambda. There is no trait for
// that, but the compiler's spelling of the type says it.
template <class PolicyT>
constexpr bool HasName() {
  constexpr std::string_view kSpelling = __PRETTY_FUNCTION__;
  for (const std::string_view hidden : {"{anonymous}", ")::", "<lambda", "(lambda"}) {
    if (kSpelling.find(hidden) != std::string_view::npos) return false;
  }
  return true;
}

// What launches PolicyT's kernels on the GPU; null if this program holds no GPU code for it. What
// nvcc compiles may hold that of a policy without a name in the same file.
template <class PolicyT>
[[gnu::visibility("hidden")]] auto LaunchFunctionOf() -> decltype(&LaunchOnGpu<PolicyT>) {
#if defined(WEFT_CPU_BACKEND)
  if constexpr (!HasName<PolicyT>()) {
    return nullptr;
  } else {
    return &LaunchOnGpu<PolicyT>;
  }
#else
  return &LaunchOnGpu<PolicyT>;
#endif
}

}  // namespace internal

// Whether this program holds GPU code for PolicyT.
template <class PolicyT>
[[gnu::visibility("hidden")]] bool HasGpuCode() {
  return arch::IsLinked(internal::LaunchFunctionOf<PolicyT>());
}

// OK, or Internal with CUDA's message for a launch that failed.
absl::Status LaunchStatus(const char* who, const arch::LaunchResult& result);

// Makes *map, the tensor map of `spec` for the tensor at `base`. Internal if CUDA refuses.
absl::Status MakeMap(const char* who, MakeTensorMap make, arch::TensorMapSpec spec,
                     const void* base, arch::TensorMap* map);

// The launch as a back end with room for `blocks` persistent blocks starts it: in clusters, and with
// its grid. Kernels whose blocks take one tile each have a block for each tile. Those of persistent
// blocks have at most `blocks` blocks, in clusters of cluster_split_k; the number of clusters is a
// multiple of blocks_multiple, or one for each tile if there are fewer tiles.
Launch SizedLaunch(const TileFacts& facts, const Launch& launch, int blocks);

// The two back ends. Operators check arguments and make a Launch, and do not ask which of the two
// they have:
//     static constexpr MakeTensorMap kMakeMap = ...;
//     template <class PolicyT>
//     absl::Status Run(const char* who, const TileFacts& facts, const Launch& launch) const;

// A back end's Run<PolicyT>, for code that starts any policy.
template <class BackEnd>
using RunFunction = absl::Status (BackEnd::*)(const char* who, const TileFacts& facts,
                                              const Launch& launch) const;

// Enqueues launches on `stream`. FailedPrecondition if the program holds no GPU code for PolicyT or
// there is no GPU; the errors of CheckDevice; Internal if CUDA refuses.
struct GpuBackEnd {
  static constexpr MakeTensorMap kMakeMap = &arch::EncodeTensorMap;
  Stream stream;
  LaunchOptions options;

  template <class PolicyT>
  [[gnu::visibility("hidden")]] absl::Status Run(const char* who, const TileFacts& facts,
                                                 const Launch& launch) const {
    return Enqueue(who, facts, launch, internal::LaunchFunctionOf<PolicyT>(),
                   internal::HasName<PolicyT>());
  }

 private:
  // launch_on_gpu: a LaunchOnGpu<PolicyT>, null if the program holds no GPU code for PolicyT.
  // has_name: HasName<PolicyT>().
  absl::Status Enqueue(const char* who, const TileFacts& facts, const Launch& launch,
                       arch::LaunchResult (*launch_on_gpu)(const Launch&, Stream),
                       bool has_name) const;
};

#if defined(WEFT_CPU_BACKEND)
using arch::CpuOptions, arch::CpuStats;

// Runs launches on the CPU and returns when they are done, with the executor's counts in *stats if
// that is not null. Internal if the executor finds the kernel at fault.
struct CpuBackEnd {
  static constexpr MakeTensorMap kMakeMap = &arch::MakeCpuTensorMap;
  const arch::CpuOptions& options;
  arch::CpuStats* stats = nullptr;

  // Runs a kernel of a policy that was compiled at run time (weft/rtc): what StartKernel and LaunchOnCpu
  // do. False if the policy has no such kernel.
  using Starter = bool (*)(const Launch& launch, const CpuOptions& options,
                           arch::CpuReport* report);
  Starter starter = nullptr;

  template <class PolicyT>
  [[gnu::visibility("hidden")]] absl::Status Run(const char* who, const TileFacts& facts,
                                                 const Launch& launch) const;
  // The same by `starter`.
  absl::Status RunStarter(const char* who, const TileFacts& facts, const Launch& launch) const;

 private:
  static Launch SizedForCpu(const TileFacts& facts, const Launch& launch);
  // What Run returns. found: whether there was a kernel to start.
  absl::Status Finish(const char* who, bool found, const arch::CpuReport& report) const;
};

// Not in the class, where it would be inline: g++ would then compile the kernels in each file,
// whatever WEFT_EXTERN_ON_CPU says.
template <class PolicyT>
absl::Status CpuBackEnd::Run(const char* who, const TileFacts& facts, const Launch& launch) const {
  const Launch sized = SizedForCpu(facts, launch);
  arch::CpuReport report;
  const bool found =
      StartKernel<PolicyT>(sized, [&]<class Kernel>(const typename Kernel::Params& params,
                                                    const arch::LaunchAttributes& attributes) {
        report = arch::LaunchOnCpu<Kernel>(sized.grid, params, options, attributes);
      });
  return Finish(who, found, report);
}
#else
namespace internal {

struct NoCpuOptions {
  static NoCpuOptions FromEnvironment() { return {}; }
};
struct NoCpuStats {};
struct NoCpuBackEnd {
  static constexpr MakeTensorMap kMakeMap = nullptr;
  const NoCpuOptions& options;
  NoCpuStats* stats = nullptr;

  template <class PolicyT>
  absl::Status Run(const char*, const TileFacts&, const Launch&) const {
    static_assert(
        sizeof(PolicyT) == 0,
        "weft: call RunOnCpu in a .cpp file: what nvcc compiles has kernels for the GPU only");
    return absl::OkStatus();
  }
};

}  // namespace internal

// What nvcc compiles has RunOnCpu, too, so that operators are declared once; calling it is an error.
using CpuOptions = internal::NoCpuOptions;
using CpuStats = internal::NoCpuStats;
using CpuBackEnd = internal::NoCpuBackEnd;
#endif

// Kernels that one .cpp compiles for the CPU, as one .cu does for the GPU: WEFT_EXTERN_ON_CPU(P)
// behind a policy's declaration, outside all namespaces, keeps every other file from compiling them
// once more, and one .cpp has WEFT_INSTANTIATE_ON_CPU(P). A policy that has neither is compiled
// where it runs.
#if defined(WEFT_CPU_BACKEND)
#define WEFT_EXTERN_ON_CPU(...) extern WEFT_INSTANTIATE_ON_CPU(__VA_ARGS__)
#define WEFT_INSTANTIATE_ON_CPU(...)                              \
  template absl::Status weft::gemm::CpuBackEnd::Run<__VA_ARGS__>( \
      const char*, const weft::gemm::TileFacts&, const weft::gemm::Launch&) const
#else
#define WEFT_EXTERN_ON_CPU(...) static_assert(true)
#define WEFT_INSTANTIATE_ON_CPU(...) \
  static_assert(false, "weft: WEFT_INSTANTIATE_ON_CPU is for a .cpp file")
#endif

}  // namespace weft::gemm
