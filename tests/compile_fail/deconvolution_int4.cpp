// A deconvolution's filter of int4.
// EXPECT: static assertion failed: weft: Deconvolution takes filters of int8
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/deconvolution.hpp"

struct Mine : Base {
  using FilterLayout = weft::PackedInt4<weft::CxRSKx<4>>;
  using Prologue = weft::prologues::PerPhase;
};

weft::conv::Deconvolution<Mine>* op;
auto size = op->dst_size();
