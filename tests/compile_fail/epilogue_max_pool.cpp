// A MaxPool of what an output stage does not make.
// EXPECT: static assertion failed: weft: MaxPool stands in an epilogue Chain once, right before
// ClampTo<T>
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::MaxPool<3, 2, 1>,
                             weft::epilogues::Relu, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
