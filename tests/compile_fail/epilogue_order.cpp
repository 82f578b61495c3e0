// Bias before scale.
// EXPECT: static assertion failed: weft: the stages of an epilogue Chain come in the order
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Bias<>, weft::epilogues::Scale,
                                          weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
