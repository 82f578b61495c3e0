// An activation that wants more than a number, applied to steps.
// EXPECT: static assertion failed: weft: OnSteps<F> takes an activation with `constexpr float
// operator\(\)\(float\) const`; give one that looks at the channel or the coordinate its own scales
#include "tests/compile_fail/policy_base.hpp"

struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale,
                             weft::epilogues::OnSteps<weft::epilogues::PRelu>,
                             weft::epilogues::OutputScale, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::conv::Convolution<Mine>::Create({});
