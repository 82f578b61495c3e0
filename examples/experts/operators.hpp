// The experts of examples/experts.cpp; CMake compiles this header's kernels for the GPU.
#pragma once

#include <cstdint>

#include "weft/gemm/ready_made.hpp"

struct Expert {
  using Element = std::int8_t;
  using LayoutA = weft::layouts::RowMajor;
  using LayoutB = weft::layouts::ColumnMajor;
  using LayoutC = weft::layouts::RowMajor;
  using Epilogue = weft::epilogues::Chain<weft::epilogues::ToSums<std::int32_t>>;
  static constexpr auto config = weft::gemm::kMma64x64;
};
using Experts = weft::gemm::Listed<Expert>;
