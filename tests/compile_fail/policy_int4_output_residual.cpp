// A residual in the format of outputs of 4 bits.
// EXPECT: static assertion failed: weft: residuals are not of 4 bits: beside a DstLayout of PairedInt4, name the
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using DstLayout = weft::PairedInt4<weft::NCxHWx<64>>;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Residual<>, weft::epilogues::Scale,
                                          weft::epilogues::ClampTo<std::int8_t, -8, 7>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
