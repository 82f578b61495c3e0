// Outputs of 4 bits from a chain that makes 8.
// EXPECT: static assertion failed: weft: a DstLayout of PairedInt4 holds 4 bits of a value: the Epilogue ends with
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using DstLayout = weft::PairedInt4<weft::NCxHWx<64>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
