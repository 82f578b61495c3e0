// A functor of the source without GPU code.
// EXPECT: static assertion failed: weft: a SourceFunctor is not constexpr all through
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  struct SourceFunctor {
    using Source = std::uint8_t;
    std::int8_t operator()(std::uint8_t x, int) const { return static_cast<std::int8_t>(x / 2); }
  };
};

auto op = weft::conv::Convolution<Mine>::Create({});
