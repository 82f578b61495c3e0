// The zero points of the operators that are measured with some.
#pragma once

#include <cstdint>

namespace weft::perf {

inline constexpr std::int32_t kSourceZero = 3;
// Of output channel k's filter: -2 to 2.
constexpr std::int32_t FilterZero(std::int64_t k) {
  return static_cast<std::int32_t>(k % 5) - 2;
}

}  // namespace weft::perf
