// A bank of filters through mma_sm75, which serves SharedFilter only.
// EXPECT: static assertion failed: weft: .*mma_sm75.*[Pp]rologue
#include "tests/compile_fail/policy_mma_sm75_base.hpp"

struct Mine : MmaSm75Base {
  using Prologue = weft::prologues::PerSample;
  static constexpr weft::conv::Config config =
      weft::conv::MmaSm75Config({64, 64, 64}, {32, 32, 64});
};

auto op = weft::conv::Convolution<Mine>::Create({});
