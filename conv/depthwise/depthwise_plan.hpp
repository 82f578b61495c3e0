// From a depthwise problem to its launch (conv/depthwise/depthwise.hpp): which kernel, the source
// and the grid.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// What a thread does, for the tile model.
struct DepthwiseWork {
  std::int32_t source_rows = 0, output_rows = 0;
  std::int32_t packets = 0;  // of up to four taps of a row of the filter
};

struct DepthwisePlan {
  int kernel = 0;  // of kDepthwiseShapes
  DepthwiseIteratorParams iterator;
  DepthwiseRows rows;
  gemm::PlanCounts counts;  // but for the bytes
  DepthwiseWork work;
};

// InvalidArgument if the problem is not depthwise: groups are not the input channels.
absl::Status CheckDepthwise(const Problem& problem);

// For a problem that CheckProblem and CheckDepthwise have accepted. OutOfRange where a 32-bit index
// of the kernel would overflow.
absl::StatusOr<DepthwisePlan> MakeDepthwisePlan(const Problem& problem, const ConvFacts& facts);

// One line for people.
std::string DescribeDepthwise(const DepthwisePlan& plan, const ConvFacts& facts);

// The adjacent pixels of NCxHWx<4> bytes that one store may write in rows of q pixels: 4, 2 or 1.
std::int32_t PixelRun(std::int64_t q, const void* dst);

}  // namespace weft::conv
