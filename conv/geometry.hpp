// The checks of a problem that hold for every policy.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "weft/conv/problem.hpp"

namespace weft::conv {

// (-128) * (-128), the largest product of two int8 values.
inline constexpr std::int64_t kLargestInt8Product = 128 * 128;

// OK if the problem describes a convolution whose int32 sums of products of at most this magnitude
// cannot overflow. InvalidArgument names the field, its value and what would be accepted.
absl::Status CheckProblem(const Problem& problem,
                          std::int64_t largest_product = kLargestInt8Product);

namespace internal {

using Wide = __int128;  // products of two 64-bit extents do not overflow here

// OutOfRange: "conv: what=value exceeds limit; remedy".
absl::Status TooLarge(const char* what, Wide value, std::int64_t limit, const char* remedy);

}  // namespace internal
}  // namespace weft::conv
