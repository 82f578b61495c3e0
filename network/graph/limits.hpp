// What a GPU allows, member by member.
#pragma once

#include "absl/strings/str_cat.h"
#include "weft/gemm/arch/device.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::network {

// The members of a GPU's limits, by their keys.
template <class Limits, class Function>
void VisitLimits(Limits& limits, const Function& function) {
  function("compute_capability", limits.compute_capability);
  function("sm_count", limits.sm_count);
  function("shared_memory_per_block", limits.shared_memory_per_block);
  function("shared_memory_per_sm", limits.shared_memory_per_sm);
  function("registers_per_sm", limits.registers_per_sm);
  function("max_threads_per_sm", limits.max_threads_per_sm);
  function("l2_bytes", limits.l2_bytes);
}

// InvalidArgument, with `where` before the name of the member, if one is not positive.
inline absl::Status CheckLimits(const char* where, const arch::DeviceLimits& limits) {
  absl::Status status;
  VisitLimits(limits, [&](const char* member, auto number) {
    if (number > 0 || !status.ok()) return;
    status = absl::InvalidArgumentError(
        absl::StrCat("network: ", where, ".", member, "=", number,
                     "; give 1 or more, as GpuNamed and CurrentDevice do"));
  });
  return status;
}

}  // namespace weft::network
