// The format of each tensor of a plan, by the times of its kernels.
#pragma once

#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/network/plan/plan.hpp"

namespace weft::network {

// A kernel of a plan, as far as formats decide how long it takes. src, other and dst are tensors of the graph; other is -1
// where nothing else is read.
struct FormatKernel {
  int src = -1, other = -1, dst = -1;
  bool is_convolution = false;
  TileQuestion question{};  // of a convolution, without formats
};

// By tensors of the graph. Floats are NCHW. Without options.formats integers lie in blocks of 32 channels, or of 4 where they
// have at most 4. Of options.formats tensors have that one, or else the first that they can have, or, with options.time, those
// with which all kernels take the least time; they keep the former where that gains nothing worth the model's errors.
// NHWC is for multiples of 16 channels. in_blocks: tensors that are in blocks, whichever the first of them is. InvalidArgument if a format is none that
// integers may have.
absl::StatusOr<std::vector<Format>> ChooseFormats(const Graph& graph,
                                                  const std::vector<FormatKernel>& kernels,
                                                  const std::vector<bool>& in_blocks,
                                                  const PlanOptions& options);

// The microseconds of all kernels with these formats of tensors, by options.time and options.bytes_per_us; infinite where
// there is a convolution that nothing can run.
double PredictedTime(const Graph& graph, const std::vector<FormatKernel>& kernels,
                     const std::vector<Format>& formats, const PlanOptions& options);

// The microseconds of a kernel that is bound by memory and reads and writes so many bytes.
double TensorTime(double bytes, const PlanOptions& options);

// Sets options->time and options->bytes_per_us to those of the model for a machine.
void AddTimes(const Machine& machine, PlanOptions* options);

}  // namespace weft::network
