// The filters of PerSample, which are mixed already, in the place of experts.
// EXPECT: static assertion failed: weft: this bank of filters was packed for another prologue than the operator's
#include "tests/compile_fail/policy_base.hpp"
#include "weft/conv/condconv.hpp"

struct Mixed : Base {
  using Prologue = weft::prologues::PerSample;
};
using Bank = weft::PackedFilter<weft::CxRSKx<4>, std::int8_t, weft::prologues::PerSample>;

void Run(weft::conv::CondConv<Mixed>::Arguments& args, Bank bank) {
  args.experts = bank;
}
