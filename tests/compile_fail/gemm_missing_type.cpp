// A policy without LayoutA.
// EXPECT: static assertion failed: weft: this GEMM policy has no type LayoutA
#include "weft/gemm/gemm.hpp"

struct Mine {
  using Element = std::int8_t;
  using LayoutB = weft::layouts::ColumnMajor;
  using LayoutC = weft::layouts::RowMajor;
  using Epilogue = weft::epilogues::BiasRelu<>;
  static constexpr auto config = weft::gemm::kMma128x128;
};

auto op = weft::gemm::Gemm<Mine>::Create({});
