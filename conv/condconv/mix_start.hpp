// Checks and starts the mixing of a CondConv of any policy, as conv/launch/start.hpp does a convolution.
#pragma once

#include <cstdint>

#include "weft/conv/condconv/mix_plan.hpp"
#include "weft/conv/launch/image.hpp"
#include "weft/conv/launch/run.hpp"
#include "weft/conv/problem/problem.hpp"
#include "weft/gemm/check/output_run.hpp"
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
  // Of the convolution, which reads these besides, and its output.
  gemm::GivenTensor src;
  gemm::OutputRun output;
};

template <class Epilogue, class Arguments>
[[gnu::visibility("hidden")]] MixRun MixRunOf(const Arguments& args) {
  MixRun run;
  run.experts.data = args.experts.data();
  run.experts.count = args.experts.count();
  run.experts.extents = args.experts.extents();
  run.routing = gemm::internal::TensorOf(args.routing);
  run.expert_scale = gemm::internal::TensorOf(args.expert_scale);
  run.workspace = args.workspace;
  run.workspace_bytes = args.workspace_bytes;
  run.experts_are_constant = args.experts_are_constant;
  run.src = gemm::internal::TensorOf(args.src);
  run.output = gemm::OutputRunOf<Epilogue>(args, args.dst);
  return run;
}

// InvalidArgument for another number of experts or experts of other extents, for addresses that are null or
// misaligned, and where the workspace, or dst, overlaps anything else that is read. ResourceExhausted if
// the workspace is too small. What the convolution alone reads its own check looks at. image: of the
// convolution's policy.
absl::Status CheckArguments(const PolicyImage& image, const Problem& problem, const MixPlan& plan,
                            const MixRun& run);

// Starts the kernel that mixes, for a run that was checked and a problem that is not empty. BackEnd:
// gemm::GpuBackEnd or gemm::CpuBackEnd.
template <class BackEnd>
absl::Status Start(const MixPlan& plan, const MixRun& run, const BackEnd& on);

}  // namespace weft::conv
