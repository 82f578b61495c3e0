// A second output in a blocked format of its own.
// EXPECT: static assertion failed: weft: Copy<T, Format> takes NHWC or NCHW, or no format for
// the output's
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Copy<float, weft::NCxHWx<32>>,
                             weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
