// A correct GEMM policy; the cases of this folder derive from it and get one thing wrong.
#pragma once

#include "weft/gemm/gemm.hpp"

struct GemmBase {
  using Element = std::int8_t;
  using LayoutA = weft::layouts::RowMajor;
  using LayoutB = weft::layouts::ColumnMajor;
  using LayoutC = weft::layouts::RowMajor;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = weft::gemm::kMma128x128;
};
