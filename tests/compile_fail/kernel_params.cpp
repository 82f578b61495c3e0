// A functor of 33 KB, which a launch cannot pass: refused where there is no GPU, too.
// EXPECT: static assertion failed: weft: the parameters of a kernel, an operator's functors with their members
#include "tests/compile_fail/policy_base.hpp"

struct Table {
  float value[8300] = {};
  constexpr float operator()(float x) const { return value[x > 0.0f ? 1 : 0]; }
};
struct Mine : Base {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, Table, weft::epilogues::ClampTo<std::int8_t>>;
};
using Kernel = weft::gemm::KernelList<Mine>::Kernel<0>;

static_assert(weft::arch::CheckedKernel<Kernel>::kOk);
