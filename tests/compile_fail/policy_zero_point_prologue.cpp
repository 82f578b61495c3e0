// A table of corrections belongs to one filter, and this prologue has one for each image.
// EXPECT: static assertion failed: weft: SourceZeroPoint and FilterZeroPoint go with the prologues SharedFilter,
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Prologue = weft::prologues::PerSample;
  using Epilogue = weft::epilogues::QLinear<>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
