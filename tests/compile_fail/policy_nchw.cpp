// A planar source, as PyTorch has it.
// EXPECT: static assertion failed: weft: no mainloop reads SrcLayout = NCHW; weft::ConvertTensor<weft::NCHW, weft::NHWC>
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using SrcLayout = weft::NCHW;
};

const bool kUsed = Use<Mine>();
