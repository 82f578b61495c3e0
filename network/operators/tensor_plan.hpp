// How a TensorProblem is run: by which kernel, with which parameters.
#pragma once

#include <cstdint>
#include <variant>

#include "weft/network/operators/tensor_params.hpp"
#include "weft/network/operators/tensor_problem.hpp"

namespace weft::network {

using TensorParams = std::variant<PointwiseParams, PoolParams, GlobalAverageParams>;

// All of a launch but addresses and what depends on them.
struct TensorPlan {
  TensorKernel kernel = TensorKernel::kCopy;
  TensorParams params;  // without units
  Units units[2];       // of the kernel of any accesses, and of that of wide ones
  bool wide = false;    // the kernel of wide accesses runs if the addresses are multiples of 16
  bool in_place =
      false;  // a thread reads of src, and of other, what it writes of dst, and nothing else
};

// problem: one that CheckTensorProblem accepts, with an output that is not empty.
TensorPlan PlanTensorOperator(const TensorProblem& problem);

// The table that a convert of integers is: 256 bytes, or nothing where each byte stays as it is.
std::string ConvertTable(const TensorType& src, const TensorType& dst);

}  // namespace weft::network
