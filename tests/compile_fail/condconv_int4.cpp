// Experts of int4.
// EXPECT: static assertion failed: weft: CondConv mixes experts of int8
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/condconv.hpp"

struct Mine : Base {
  using FilterLayout = weft::PackedInt4<weft::CxRSKx<4>>;
  using Prologue = weft::prologues::PerSample;
};

weft::conv::CondConv<Mine>* op;
auto size = op->workspace_size();
