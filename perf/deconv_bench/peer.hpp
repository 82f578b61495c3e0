// The transposed convolution of cuDNN: the gradient of a convolution by its source, in half and
// NHWC.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/peers/cudnn_graph.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/conv/problem/deconvolution_problem.hpp"

namespace weft::perf {

class CudnnGradient {
 public:
  // Tries every plan on `sets` sets of buffers and keeps the fastest. src: NCHW, filter:
  // [c][k][r][s]; a value of both stands for 1/64 of it, so that halves hold the results.
  static absl::StatusOr<std::unique_ptr<CudnnGradient>> Create(
      const conv::DeconvolutionProblem& problem, const std::vector<std::int8_t>& src,
      const std::vector<std::int8_t>& filter, int sets, const Stopwatch& watch);

  absl::Status Enqueue(int set, cudaStream_t stream) const { return plan_.Enqueue(set, stream); }
  const std::string& name() const { return name_; }
  const DeviceBuffer& dst() const { return sets_[0].dst; }  // NHWC, half, of set 0

 private:
  struct Set {
    DeviceBuffer src, filter, dst;
  };
  std::optional<internal::CudnnGraph> graph_;
  std::vector<Set> sets_;
  internal::CudnnPlan plan_;
  std::string name_;
};

}  // namespace weft::perf
