// Stages whose results the output stage does not look at.
// EXPECT: static assertion failed: weft: ToAccumulator \(ToSums\) writes the sums as they are, so no
// stage but SumBias may stand before it
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Bias<>,
                                          weft::epilogues::Relu, weft::epilogues::ToAccumulator>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
