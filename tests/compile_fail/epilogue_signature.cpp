// A functor with the wrong signature.
// EXPECT: static assertion failed: weft: every stage of an epilogue Chain is a built-in stage or a
// functor with
#include "tests/compile_fail/policy_base.hpp"

struct Wrong {
  constexpr int operator()(const char* x) const { return x[0]; }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Wrong, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
