// A functor of the source that is not told the channel.
// EXPECT: static assertion failed: weft: a SourceFunctor has `using Source = std::uint8_t` \(or
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  struct SourceFunctor {
    using Source = std::uint8_t;
    constexpr std::int8_t operator()(std::uint8_t x) const {
      return static_cast<std::int8_t>(x / 2);
    }
  };
};

auto op = weft::conv::Convolution<Mine>::Create({});
