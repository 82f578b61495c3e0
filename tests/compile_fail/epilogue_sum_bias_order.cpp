// A bias inside the sum comes before the sum is scaled.
// EXPECT: static assertion failed: weft: the stages of an epilogue Chain come in the order \[Residual\]
// \[SourceZeroPoint\] \[FilterZeroPoint\] \[SumBias\] \[Scale\]
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::SumBias,
                                          weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
