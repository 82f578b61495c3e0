// What reads through a pointer and calls a plain function is noticed, too.
// EXPECT: static assertion failed: weft: an activation of this epilogue Chain is not constexpr all through
#include "tests/compile_fail/policy_base.hpp"

inline float Load(const float* scale) {
  return *scale;
}
struct Scaled {
  const float* scale = nullptr;
  template <class T>
  constexpr T operator()(T x) const {
    return x * Load(scale);
  }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Scaled, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
