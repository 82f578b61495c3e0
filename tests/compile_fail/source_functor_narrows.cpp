// A source of uint8 in a functor that takes int8, which has not all of its values.
// EXPECT: static assertion failed: weft: a SourceFunctor takes another type than its Source
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  struct SourceFunctor {
    using Source = std::uint8_t;
    constexpr std::int8_t operator()(std::int8_t x, int) const { return x; }
  };
};

auto op = weft::conv::Convolution<Mine>::Create({});
