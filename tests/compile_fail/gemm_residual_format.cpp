// A residual in a tensor's format: matrices have none.
// EXPECT: static assertion failed: weft: the residual of a GEMM has C's layout: Residual<T>, without a
// tensor format
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Residual<std::int8_t, weft::NHWC>,
                             weft::epilogues::Scale, weft::epilogues::ClampTo<std::int8_t>>;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
