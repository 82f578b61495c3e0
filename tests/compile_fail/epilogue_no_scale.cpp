// Without Scale nothing reads the sums: the convolution would be lost.
// EXPECT: static assertion failed: weft: an epilogue Chain without a Scale stage never reads the sums;
// add Scale
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Bias<>, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
