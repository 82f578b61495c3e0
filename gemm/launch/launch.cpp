#include "weft/gemm/launch/launch.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::gemm {

absl::Status LaunchStatus(const char* who, const arch::LaunchResult& result) {
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(who, ": launch failed: ", result.message, " (", result.cuda_error, ")"));
}

absl::Status MakeMap(const char* who, MakeTensorMap make, arch::TensorMapSpec spec,
                     const void* base, arch::TensorMap* map) {
  spec.base = base;
  return LaunchStatus(who, make(spec, map));
}

Launch SizedLaunch(const TileFacts& facts, const Launch& launch, int blocks) {
  const int split = facts.config.cluster_split_k, multiple = launch.blocks_multiple;
  Launch sized = launch;
  sized.attributes.cluster = {split};
  if (facts.resident_blocks > 0) {
    const int clusters = std::max(1, blocks / split / multiple) * multiple;
    sized.grid = {std::min(launch.grid.x, clusters) * split, 1, 1};
  }
  return sized;
}

absl::Status GpuBackEnd::Enqueue(const char* who, const TileFacts& facts, const Launch& launch,
                                 arch::LaunchResult (*launch_on_gpu)(const Launch&, Stream),
                                 bool has_name) const {
  if (launch_on_gpu == nullptr && !has_name) {
    return absl::FailedPreconditionError(absl::StrCat(
        who,
        ": this program holds no GPU code for the policy, which is found by its name: the policy, "
        "its tile or a functor stands in an anonymous namespace or in a function; move it to a "
        "namespace with a name, or use RunOnCpu"));
  }
  if (launch_on_gpu == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        who, ": this program holds no GPU code for the policy; put ",
        "WEFT_INSTANTIATE_OPERATOR(Policy) in a .cu file or call weft_add_operators() in CMake",
        facts.hardware.exact ? ", with 90a-real among CUDA_ARCHITECTURES" : "",
        ", or use RunOnCpu"));
  }
  const arch::DeviceQuery device = arch::QueryDevice();
  if (!device.result.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(who, ": no usable GPU: ", device.result.message, "; use RunOnCpu"));
  }
  if (absl::Status s = CheckDevice(who, facts, device.limits); !s.ok()) return s;
  Launch sized = SizedLaunch(facts, launch, device.limits.sm_count * facts.resident_blocks);
  sized.attributes.dependent = options.dependent && device.limits.compute_capability >= 90;
  return LaunchStatus(who, launch_on_gpu(sized, stream));
}

Launch CpuBackEnd::SizedForCpu(const TileFacts& facts, const Launch& launch) {
  constexpr int kClusters = 3;  // few, so that each takes several tiles of a small problem, too
  Launch sized = SizedLaunch(facts, launch, kClusters * facts.config.cluster_split_k);
  sized.attributes.dependent = true;  // where the kernel can be, so that every access is checked
  return sized;
}

absl::Status CpuBackEnd::RunStarter(const char* who, const TileFacts& facts,
                                    const Launch& launch) const {
  arch::CpuReport report;
  const bool found = starter(SizedForCpu(facts, launch), options, &report);
  return Finish(who, found, report);
}

absl::Status CpuBackEnd::Finish(const char* who, bool found, const arch::CpuReport& report) const {
  if (stats != nullptr) *stats = report.stats;
  if (!found) return absl::InternalError(absl::StrCat(who, ": ", kNoSuchKernel));
  if (!report.ok()) return absl::InternalError(absl::StrCat(who, ": ", report.error));
  return absl::OkStatus();
}

}  // namespace weft::gemm
