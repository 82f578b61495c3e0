// From a problem to what the kernels are launched with: every check that needs no pointer, and the
// parameter blocks of conv/params.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/conv/params.hpp"
#include "weft/conv/policy.hpp"
#include "weft/conv/problem.hpp"
#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/kernel.hpp"

namespace weft::conv {

// OK if the problem describes a convolution whose int32 sums cannot overflow. InvalidArgument names
// the field, its value and what would be accepted.
absl::Status CheckProblem(const Problem& problem);

// The facts about a policy that host code needs, as values, so that the checks are compiled once.
struct PolicyFacts {
  Config config;
  int threads = 0;
  std::int64_t shared_bytes = 0;
  arch::Requires hardware;  // the GPUs that run the kernel
  int packet_channels = 4;  // channels of one packet (conv/params.hpp)
  bool nhwc = false;        // SrcLayout is NHWC
  int filter_multiple = 4;  // FilterLayout rounds K up to a multiple of this
  const char* src_layout = "";
  const char* filter_layout = "";
  const char* dst_layout = "";
  int dst_channel_run = 0;  // TensorFormat::kChannelRun
  int dst_interleave = 1;
  int dst_element_bytes = 1;
};

// A problem that passed every check for one policy, and its launch.
struct Geometry {
  Problem problem;
  bool pointwise = false;       // the path without im2col arithmetic
  std::int32_t tiles_m = 0;     // blocks along N P Q
  std::int32_t tiles_n = 0;     // blocks along K
  std::int32_t slices = 0;      // steps of config.threadblock.k along C R S
  std::int32_t padded_k = 0;    // output channels with those that fill the last dst block
  ActivationParams activation;  // src is null
  FilterParams filter;          // filter is null
};

// Checks `problem` against the policy. InvalidArgument as for CheckProblem, and where K does not
// fit the destination's layout; OutOfRange where a 32-bit index of the kernel would overflow.
absl::StatusOr<Geometry> MakeGeometry(const Problem& problem, const PolicyFacts& facts);

// FailedPrecondition if the policy needs a newer GPU; ResourceExhausted if it needs more shared
// memory than one block can have there.
absl::Status CheckDevice(const PolicyFacts& facts, const arch::DeviceLimits& device);

// InvalidArgument if `pointer` is null or not a multiple of `alignment` bytes.
absl::Status CheckPointer(const char* field, const void* pointer, int alignment);

// InvalidArgument if the filter was not packed, or for other extents than the problem's.
absl::Status CheckFilter(const Problem& problem, const FilterExtents& packed, const void* data);

// One line for people: tile, path, grid, shared memory, layouts.
std::string DescribeGeometry(const Geometry& geometry, const PolicyFacts& facts);

}  // namespace weft::conv
