// A policy whose convolution has one filter for all images.
// EXPECT: static assertion failed: weft: CondConv writes one filter for each image, so its policy has the Prologue
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/condconv.hpp"

weft::conv::CondConv<Base>* op;
auto size = op->workspace_size();
