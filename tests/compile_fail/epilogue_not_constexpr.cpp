// An activation without `constexpr`: right on the CPU, without code on the GPU.
// EXPECT: static assertion failed: weft: an activation of this epilogue Chain is not constexpr all
// through, so it has no GPU code; write `constexpr float operator\(\)\(float\) const`
#include "tests/compile_fail/policy_base.hpp"

struct Half {
  float operator()(float x) const { return 0.5f * x; }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Half, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
