// An activation whose bytes are not all there is to it.
// EXPECT: static assertion failed: weft: every stage of an epilogue Chain is default-constructible and
// trivially copyable, since its bytes are copied to the GPU; give an activation numbers and arrays
// as members, no std::vector, std::string or virtual functions
#include <vector>

#include "tests/compile_fail/policy_base.hpp"

struct Table {
  std::vector<float> values;
  constexpr float operator()(float x) const { return x; }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Table, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
