// A residual of a type that no output has.
// EXPECT: static assertion failed: weft: Residual<T> takes T = std::int8_t, std::uint8_t, float,
// weft::Half or weft::Bfloat16
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Residual<double>, weft::epilogues::Scale,
                                          weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
