// The packed filter of a convolution.
// EXPECT: static assertion failed: weft: this filter is not packed for a Deconvolution; call
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/deconvolution.hpp"

struct Phases : Base {
  using Prologue = weft::prologues::PerPhase;
};

void Run(weft::conv::Deconvolution<Phases>::Arguments& args,
         weft::PackedFilter<weft::CxRSKx<4>> filter) {
  args.filter = filter;
}
