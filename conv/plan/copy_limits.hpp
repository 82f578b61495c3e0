// What TMA admits.
#pragma once

#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// InvalidArgument for strides above 8, paddings above 127 and taps more than 255 pixels apart, or more
// than 128 beside the padding behind them.
absl::Status CheckCopyLimits(const Problem& p);

}  // namespace weft::conv
