// Checks and starts the mixing of a CondConv of any policy, as conv/launch/start.hpp does a convolution.
#pragma once

#include <cstdint>

#include "weft/conv/condconv/mix_plan.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::conv {

// A run of the mixing without the types of its policy: what a CondConv's Arguments say. It points into
// them.
struct MixRun {
  FilterRun experts;
  gemm::GivenTensor routing, expert_scale;
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
  bool experts_are_constant = false;
  ConvRun convolution;  // which reads the workspace
};

// filters: the filters that are mixed, in the workspace.
template <class Epilogue, class Arguments, class Filters>
[[gnu::visibility("hidden")]] MixRun MixRunOf(const Arguments& args, const Filters& filters) {
  MixRun run;
  run.experts.data = args.experts.data();
  run.experts.count = args.experts.count();
  run.experts.extents = args.experts.extents();
  run.routing = gemm::internal::TensorOf(args.routing);
  run.expert_scale = gemm::internal::TensorOf(args.expert_scale);
  run.workspace = args.workspace;
  run.workspace_bytes = args.workspace_bytes;
  run.experts_are_constant = args.experts_are_constant;
  run.convolution = TensorsOf<Epilogue>(args);
  run.convolution.filter = {.data = filters.data(),
                            .bytes = filters.bytes(),
                            .count = filters.count(),
                            .extents = filters.extents(),
                            .needed = filters.count()};
  return run;
}

// What becomes of the convolution's run.
using ConvolutionFunction = absl::FunctionRef<absl::Status(const ConvRun& run)>;

// InvalidArgument for another number of experts or experts of other extents, for addresses that are null or
// misaligned, and where the workspace, or dst, overlaps anything else that is read. ResourceExhausted if
// the workspace is too small. What the convolution alone reads its own `check` looks at. image: of its
// policy. Where dst has no elements, any run is right.
absl::Status CheckArguments(const PolicyImage& image, const Problem& problem, const MixPlan& plan,
                            const MixRun& run, ConvolutionFunction check);

// Checks the run, starts the kernel that mixes, and then the convolution. BackEnd: gemm::GpuBackEnd or
// gemm::CpuBackEnd.
template <class BackEnd>
absl::Status Start(const PolicyImage& image, const Problem& problem, const MixPlan& plan,
                   const MixRun& run, const BackEnd& on, ConvolutionFunction check,
                   ConvolutionFunction start);

}  // namespace weft::conv
