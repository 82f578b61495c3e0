// A matrix of another type than the output stage writes.
// EXPECT: static assertion failed: weft: args.dst \(c of a GEMM\) points to another type
#include "tests/compile_fail/gemm_base.hpp"

void Run(const weft::gemm::Gemm<GemmBase>& op, const std::int8_t* a, const float* bias, double* c) {
  (void)op.RunOnCpu({.a = a, .b = a, .bias = bias, .c = c});
}
