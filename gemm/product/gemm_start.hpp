// Starts matrix products of any policy, and lists of them: checks the runs, makes the kernel's parameters
// and hands these to a back end. It knows the policy as an image, so that it is compiled once for each
// back end.
#pragma once

#include "weft/gemm/check/output_run.hpp"
#include "weft/gemm/launch/launch.hpp"
#include "weft/gemm/product/gemm_image.hpp"
#include "weft/gemm/product/gemm_plan.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::gemm {

// A run of a matrix product without the types of its policy. It points into the Arguments.
struct GemmRun {
  GivenTensor a, b, group_offsets;
  const void *load_a = nullptr,
             *load_b = nullptr;  // the run-time values of load functors, as bytes
  OutputRun output;
};

// The run that these arguments describe.
template <class Epilogue, class Arguments>
[[gnu::visibility("hidden")]] GemmRun GemmRunOf(const Arguments& args) {
  GemmRun run;
  run.a = internal::TensorOf(args.a);
  run.b = internal::TensorOf(args.b);
  run.group_offsets = internal::TensorOf(args.group_offsets);
  run.load_a = &args.load_a, run.load_b = &args.load_b;
  run.output = OutputRunOf<Epilogue>(args, args.c);
  return run;
}

// Everything that is checked before a launch. Where C has no elements, any run is right.
absl::Status CheckArguments(const GemmImage& image, const GemmPlan& plan, const GemmRun& run);

// The same of a list, one run to a product: also that no product writes memory that another one reads
// or writes.
absl::Status CheckArguments(const GemmImage& image, const GemmListPlan& plan,
                            absl::Span<const GemmRun> runs);

// Checks the run and starts the plan's kernel. start: BackEnd::Run<PolicyT>, of GpuBackEnd or
// CpuBackEnd. Where C has no elements it does nothing.
template <class BackEnd>
absl::Status Start(const GemmImage& image, const GemmPlan& plan, const GemmRun& run,
                   const BackEnd& on, RunFunction<BackEnd> start);

// Checks the runs of a list and writes its table, of default-constructed products. Internal if CUDA
// refuses a tensor map.
absl::Status PutTable(const GemmImage& image, const GemmListPlan& plan,
                      absl::Span<const GemmRun> runs, MakeTensorMap make, void* table);

// Starts a list whose table lies at `table` where the kernel runs.
template <class BackEnd>
absl::Status StartList(const GemmImage& image, const GemmListPlan& plan, const void* table,
                       const BackEnd& on, RunFunction<BackEnd> start);

}  // namespace weft::gemm
