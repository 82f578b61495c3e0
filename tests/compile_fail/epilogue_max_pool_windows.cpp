// Windows that no kernel pools.
// EXPECT: static assertion failed: weft: MaxPool<size, step, padding> takes windows of size 2 or 3, a
// step of 2
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::MaxPool<3, 1, 1>,
                                          weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
