// The limits of TMA's im2col traversal.
#pragma once

#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// InvalidArgument for strides above 8, for paddings above 127, and for filters whose last row or
// column of taps lies more than 255 pixels behind the first, or more than 128 plus the bottom or
// right padding.
absl::Status CheckCopyLimits(const Problem& p);

}  // namespace weft::conv
