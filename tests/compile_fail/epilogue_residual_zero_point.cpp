// A zero point of a residual that is a float already.
// EXPECT: static assertion failed: weft: ResidualWithZeroPoint<T> takes T = std::int8_t or std::uint8_t
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::ResidualWithZeroPoint<float>, weft::epilogues::Scale,
                             weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
