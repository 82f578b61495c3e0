// An alignment that NCxHWx<4> cannot have.
// EXPECT: static assertion failed: weft: config.alignment.src does not fit NCxHWx<4>: its channel blocks are 4 bytes
#include "tests/compile_fail/policy_base.hpp"

constexpr weft::conv::Config WideSource() {
  weft::conv::Config config = weft::conv::kSimt64x64;
  config.alignment.src = 16;
  return config;
}

struct Mine : Base {
  static constexpr weft::conv::Config config = WideSource();
};

auto op = weft::conv::Convolution<Mine>::Create({});
