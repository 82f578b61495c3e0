// A mainloop of matrix products.
// EXPECT: static assertion failed: weft: the simt_async mainloop multiplies matrices of float and double
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  static constexpr auto config = weft::gemm::kSimtFloat128x256;
};

auto op = weft::conv::Convolution<Mine>::Create({});
