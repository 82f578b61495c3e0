// Problems of TensorOperator with their inputs, and what plain loops over NCHW make of them: for tests of both back
// ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/network/operators/tensor_problem.hpp"

namespace weft::network {

struct TensorCase {
  TensorProblem problem;
  // Whole tensors in their formats, as bytes. `dst` is what a run finds, and `want` what it leaves.
  std::vector<std::uint8_t> src, other, dst, want;
  std::int64_t offset = 0;  // bytes of all addresses behind a multiple of 64

  std::string Name() const;
};

// Cases of a kind in which every two values of what a case is made of meet: formats, elements, channels at the edges
// of blocks, extents, scales and zero points, windows, and addresses.
std::vector<TensorCase> CasesOf(Kind kind);

// Writes a tensor's numbers, which are in the order of NCHW. Those that fill blocks are zeros.
void Pack(const TensorType& type, const std::vector<double>& values,
          std::vector<std::uint8_t>* bytes);

}  // namespace weft::network
