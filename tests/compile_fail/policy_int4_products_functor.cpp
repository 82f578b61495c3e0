// A functor makes bytes, which instructions of 4 bits do not read.
// EXPECT: static assertion failed: weft: instructions of 4 bits read the source as it is, and a SourceFunctor makes
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"

struct Negate {
  using Source = std::int8_t;
  constexpr std::int8_t operator()(std::int8_t x, int) const { return -x; }
};
auto op =
    weft::conv::Convolution<weft::conv::WithSource<weft::conv::S4Mma64<>, Negate>>::Create({});
