// A residual of another type than the Residual stage's.
// EXPECT: static assertion failed: weft: args.residual points to another type than the policy's
// Residual stage reads: Residual<T> reads T (std::int8_t unless given)
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::ResidualBiasRelu<>;
};

void Run(const weft::conv::Convolution<Mine>& op, const std::int8_t* x, const float* b,
         const weft::PackedFilter<weft::CxRSKx<4>>& filter, std::int8_t* y) {
  (void)op.RunOnCpu({.src = x, .filter = filter, .bias = b, .residual = b, .dst = y});
}
