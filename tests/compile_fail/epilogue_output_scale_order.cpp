// An activation of what is in steps already.
// EXPECT: static assertion failed: weft: the stages of an epilogue Chain come in the order
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::OutputScale,
                             weft::epilogues::Relu, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
