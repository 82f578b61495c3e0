// A constexpr function template that calls a plain function, which no compiler warns of.
// EXPECT: static assertion failed: weft: an activation of this epilogue Chain is not constexpr all
// through
#include "tests/compile_fail/policy_base.hpp"

inline float Halve(float x) {
  return 0.5f * x;
}
struct Half {
  template <class T>
  constexpr T operator()(T x, const weft::epilogues::OutputCoord& at) const {
    return at.k == 0 ? Halve(x) : x;
  }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Half, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
