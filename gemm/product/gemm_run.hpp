// A run of a matrix product without the types of its policy: what its Arguments say.
#pragma once

#include "weft/gemm/check/output_run.hpp"

namespace weft::gemm {

// It points into the Arguments.
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

}  // namespace weft::gemm
