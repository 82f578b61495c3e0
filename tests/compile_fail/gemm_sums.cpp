// Sums of another type than the operator's.
// EXPECT: static assertion failed: weft: ToSums<T> takes the type of the operator's sums
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Epilogue = weft::epilogues::Chain<weft::epilogues::ToSums<float>>;
};
struct Call {
  static void Run(const weft::gemm::Gemm<Mine>& op) { (void)op.RunOnCpu({}); }
};

auto op = weft::gemm::Gemm<Mine>::Create({});
