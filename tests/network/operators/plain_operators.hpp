// What a TensorOperator computes, by plain loops over NCHW.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/network/operators/tensor_problem.hpp"

namespace weft::network {

// Calls function(place, n, c, h, w) for each element, in the order of NCHW.
template <class Function>
void ForEach(const TensorExtents& e, const Function& function) {
  std::int64_t place = 0;
  for (std::int64_t n = 0; n < e.n; ++n) {
    for (std::int64_t c = 0; c < e.c; ++c) {
      for (std::int64_t h = 0; h < e.h; ++h) {
        for (std::int64_t w = 0; w < e.w; ++w) function(place++, n, c, h, w);
      }
    }
  }
}

// What a run makes of src and other, the numbers of whole tensors.
std::vector<double> Expected(const TensorProblem& problem, const std::vector<double>& src,
                             const std::vector<double>& other);

}  // namespace weft::network
