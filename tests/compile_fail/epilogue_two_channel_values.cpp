// Two activations with a value for each channel.
// EXPECT: static assertion failed: weft: an epilogue Chain has at most one activation with a value
// for each channel, such as PRelu
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::PRelu, weft::epilogues::PRelu,
                             weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
