// Plans the launch of a depthwise problem (conv/depthwise/depthwise.hpp): which kernel, what it
// reads of the source, and the grid.
#pragma once

#include <cstdint>
#include <string>

#include "weft/conv/depthwise/depthwise_params.hpp"
#include "weft/conv/policy/facts.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// How much a thread does, for the tile model.
struct DepthwiseWork {
  std::int32_t source_rows = 0, output_rows = 0;
  std::int32_t packets = 0;  // words of up to four taps in the filter's rows
};

struct DepthwisePlan {
  int kernel = 0;  // an index of kDepthwiseShapes
  DepthwiseIteratorParams iterator;
  DepthwiseRows rows;
  gemm::PlanCounts counts;  // without the bytes
  DepthwiseWork work;

  int number() const { return kernel; }
};

// InvalidArgument if the problem is not depthwise, that is if `groups` is not the number of input
// channels.
absl::Status CheckDepthwise(const Problem& problem);

// For a problem that CheckProblem and CheckDepthwise have accepted. OutOfRange where a 32-bit index
// of the kernel would overflow.
absl::StatusOr<DepthwisePlan> MakeDepthwisePlan(const Problem& problem, const ConvFacts& facts);

// A description in one line.
std::string DescribeDepthwise(const DepthwisePlan& plan, const ConvFacts& facts);

// How many adjacent pixels of NCxHWx<4> bytes one store may write where rows have q pixels: 4, 2 or
// 1, as the alignment of a row and of dst allows.
std::int32_t PixelRun(std::int64_t q, const void* dst);

}  // namespace weft::conv
