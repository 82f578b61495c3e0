// An activation of real values whose result is clamped to bytes as it is.
// EXPECT: static assertion failed: weft: an activation of real values .* stands in an epilogue Chain that
// ends in ClampTo<T> without an OutputScale behind it; add OutputScale, give args.alpha = sx \* sw
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Silu,
                                          weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
