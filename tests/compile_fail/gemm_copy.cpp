// A second output of a matrix product.
// EXPECT: static assertion failed: weft: Copy, ChannelRange and ImageSums are stages of
// convolutions, of which a matrix product is one with R = S = 1
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Copy<>,
                                          weft::epilogues::ToFloat>;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
