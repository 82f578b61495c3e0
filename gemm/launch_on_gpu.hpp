// The last steps of every operator's Run: whether there is GPU code and a GPU that it fits, the
// launch, what came of it.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/launch_result.hpp"

namespace weft::gemm {

// `who` begins each message: "conv". `remedy` says how a program comes by GPU code. check(limits)
// says whether the GPU fits; launch() enqueues. FailedPrecondition if there is no code or no GPU,
// what `check` says, Internal if CUDA refuses.
template <class Check, class Launch>
absl::Status LaunchOnThisGpu(const char* who, bool has_code, const char* remedy, const Check& check,
                             const Launch& launch) {
  if (!has_code) {
    return absl::FailedPreconditionError(absl::StrCat(
        who, ": this program holds no GPU code for the policy; ", remedy, ", or use RunOnCpu"));
  }
  const arch::DeviceQuery device = arch::QueryDevice();
  if (!device.result.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(who, ": no usable GPU: ", device.result.message, "; use RunOnCpu"));
  }
  if (absl::Status s = check(device.limits); !s.ok()) return s;
  const arch::LaunchResult result = launch();
  if (result.ok()) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(who, ": launch failed: ", result.message, " (", result.cuda_error, ")"));
}

}  // namespace weft::gemm
