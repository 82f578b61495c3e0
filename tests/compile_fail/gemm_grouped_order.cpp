// Groups are rows that begin anywhere.
// EXPECT: static assertion failed: weft: a Grouped GEMM takes a row-major A: its groups are rows, which begin anywhere
#include "tests/compile_fail/gemm_base.hpp"

struct Mine : GemmBase {
  using LayoutA = weft::layouts::ColumnMajor;
};

auto op = weft::gemm::Gemm<weft::gemm::Grouped<Mine>>::Create({});
