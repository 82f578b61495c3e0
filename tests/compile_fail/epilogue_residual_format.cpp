// A residual in a filter's format.
// EXPECT: static assertion failed: weft: Residual<T, Format> takes a tensor format \(NCxHWx<x>, NHWC,
// NCHW\), or none for the output's
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Residual<std::int8_t, weft::CxRSKx<4>>,
                             weft::epilogues::Scale, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
