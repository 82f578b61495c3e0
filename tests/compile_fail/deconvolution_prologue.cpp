// A policy whose convolution has one filter for all pixels.
// EXPECT: static assertion failed: weft: Deconvolution runs a convolution for each phase of the stride, so its policy has
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/deconvolution.hpp"

weft::conv::Deconvolution<Base>* op;
auto size = op->dst_size();
