// The functions of <cmath> that a source may not call.
#pragma once

#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// InvalidArgument if the source calls a function of <cmath> that rtc/standard/math.hpp does not have: NVRTC
// knows none of these, and g++ would take one whose last bits are those of the machine's library.
absl::Status CheckFunctions(std::string_view source);

}  // namespace weft::rtc
