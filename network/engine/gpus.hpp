// GPUs by name, for who compiles a network on a machine that has none of them.
#pragma once

#include <string_view>

#include "weft/gemm/arch/device.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::network {

// The limits of a GPU by its name, such as "H200", or those of the data centre's card of an architecture: "90a", "sm_80".
// Letters may be small or capital. InvalidArgument, with the names that are known, if it is none of them.
absl::StatusOr<arch::DeviceLimits> GpuNamed(std::string_view name);

}  // namespace weft::network
