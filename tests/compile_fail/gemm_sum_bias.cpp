// An int32 bias inside sums that are not int32.
// EXPECT: static assertion failed: weft: SumBias adds to the int32 sums of int8 products
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Element = weft::Half;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::SumBias, weft::epilogues::Scale,
                                          weft::epilogues::ToFloat>;
  static constexpr auto config = weft::gemm::kMmaHalf128x128;
};
struct Call {
  static void Run(const weft::gemm::Gemm<Mine>& op) { (void)op.RunOnCpu({}); }
};

auto op = weft::gemm::Gemm<Mine>::Create({});
