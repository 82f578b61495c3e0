// What compilers say of a source, for its author.
#pragma once

#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc::internal {

// InvalidArgument with what of a compiler's output is about lines of the source, and the sentences of
// Weft's own checks; with its first lines if there are none. Both g++'s and NVRTC's output is understood.
absl::Status CompileError(const std::string& output, const std::string& policy);

}  // namespace weft::rtc::internal
