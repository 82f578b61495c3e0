// An activation that takes an int: the call would drop what lies behind the point.
// EXPECT: static assertion failed: weft: an activation of this epilogue Chain takes another type than float
#include "tests/compile_fail/policy_base.hpp"

struct Whole {
  constexpr float operator()(int x) const { return static_cast<float>(x); }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Whole, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
