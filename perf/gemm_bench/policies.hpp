// The families behind the lines of perf/gemms.def: C row-major, the plain sums.
#pragma once

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/ready_made.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::perf {

template <class Sum>
using Sums = epilogues::Chain<epilogues::ToSums<Sum>>;
using Row = layouts::RowMajor;
using Column = layouts::ColumnMajor;

using S8RowColumn = gemm::S8GemmFamily<Sums<std::int32_t>>;
using S8RowRow = gemm::S8GemmFamily<Sums<std::int32_t>, Row, Row>;
using S8ColumnRow = gemm::S8GemmFamily<Sums<std::int32_t>, Column, Row>;
using HalfRowColumn = gemm::HalfGemmFamily<Sums<float>>;
using HalfRowRow = gemm::HalfGemmFamily<Sums<float>, Row, Row>;
using HalfColumnColumn = gemm::HalfGemmFamily<Sums<float>, Column, Column>;
using HalfColumnRow = gemm::HalfGemmFamily<Sums<float>, Column, Row>;
using Bfloat16RowColumn = gemm::Bfloat16GemmFamily<Sums<float>>;
using Bfloat16RowRow = gemm::Bfloat16GemmFamily<Sums<float>, Row, Row>;
using E4m3RowColumn = gemm::E4m3GemmFamily<Sums<float>>;
using Tf32RowColumn = gemm::Tf32GemmFamily<Sums<float>>;

// fma, two stages in registers, or with cp.async a ring of more.
template <class A, class B, int m, int n, int k, int thread_n, int stages>
struct FloatGemm {
  using Element = float;
  using LayoutA = A;
  using LayoutB = B;
  using LayoutC = Row;
  using Epilogue = Sums<float>;
  static constexpr auto config = [] {
    constexpr gemm::TileShape kBlock = {m, n, k}, kWarp = {64, 4 * thread_n, k};
    constexpr gemm::TileShape kThread = {8, thread_n, 1};
    constexpr gemm::Alignment kAlignment = {16, 16};
    if constexpr (stages == 2) {
      return gemm::SimtConfig(kBlock, kWarp, kThread, kAlignment);
    } else {
      return gemm::SimtAsyncConfig(kBlock, kWarp, kThread, stages, kAlignment);
    }
  }();
};
template <class A, class B>
using Floats =
    gemm::Family<FloatGemm<A, B, 128, 128, 8, 8, 2>, FloatGemm<A, B, 128, 256, 16, 16, 4>,
                 FloatGemm<A, B, 128, 256, 32, 16, 3>>;
using FloatRowColumn = Floats<Row, Column>;
using FloatRowRow = Floats<Row, Row>;
using FloatColumnRow = Floats<Column, Row>;
using FloatColumnColumn = Floats<Column, Column>;

}  // namespace weft::perf
