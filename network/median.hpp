// The median of times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::network {

// The number in the middle, or the mean of the two there. numbers: one or more.
inline double MedianOf(std::vector<double> numbers) {
  const std::size_t half = numbers.size() / 2;
  std::sort(numbers.begin(), numbers.end());
  return numbers.size() % 2 == 1 ? numbers[half] : 0.5 * (numbers[half - 1] + numbers[half]);
}

}  // namespace weft::network
