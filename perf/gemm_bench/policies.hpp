// The matrix products that gemm_bench measures.
#pragma once

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/mma_config.hpp"
#include "weft/gemm/simt_config.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::perf {

// Tiles as types: nvcc 13.0 cannot write class-type template arguments into host code.
template <int m, int n, int k, int warp_m, int warp_n, int stages>
struct S8Tile {
  static constexpr gemm::Config config =
      gemm::MmaSm80Config({m, n, k}, {warp_m, warp_n, k}, stages, 16);
};
template <int m, int n, int k, int warp_m, int warp_n, int stages>
struct HalfTile {
  static constexpr gemm::Config config =
      gemm::MmaSm80HalfConfig({m, n, k}, {warp_m, warp_n, k}, stages, 16);
};
template <int m, int n, int k, int warp_m, int warp_n, int thread_m, int thread_n, int stages>
struct FloatTile {
  static constexpr gemm::Config config = gemm::SimtAsyncConfig(
      {m, n, k}, {warp_m, warp_n, k}, {thread_m, thread_n, 1}, stages, {16, 16});
};

template <class... Types>
struct TypeList {};

using Row = layouts::RowMajor;
using Col = layouts::ColumnMajor;

// C row-major, the plain sums.
template <class ElementT, class A, class B, class TileT>
struct BenchGemm {
  using Element = ElementT;
  using LayoutA = A;
  using LayoutB = B;
  using LayoutC = Row;
  using Epilogue = epilogues::Chain<epilogues::ToSums<typename gemm::SumOf<ElementT>::type>>;
  static constexpr gemm::Config config = TileT::config;
};

template <class A, class B, int m, int n, int k, int warp_m, int warp_n, int stages>
using S8Gemm = BenchGemm<std::int8_t, A, B, S8Tile<m, n, k, warp_m, warp_n, stages>>;
template <class T, class A, class B, int m, int n, int k, int warp_m, int warp_n, int stages>
using HalfGemm = BenchGemm<T, A, B, HalfTile<m, n, k, warp_m, warp_n, stages>>;
template <class A, class B, int m, int n, int k, int warp_m, int warp_n, int thread_m, int thread_n,
          int stages>
using FloatGemm =
    BenchGemm<float, A, B, FloatTile<m, n, k, warp_m, warp_n, thread_m, thread_n, stages>>;

// operators.cmake compiles what is named between here and the end.
using Gemms =
    TypeList<S8Gemm<Row, Col, 128, 256, 128, 64, 64, 3>, S8Gemm<Row, Col, 256, 128, 128, 64, 64, 3>,
             S8Gemm<Row, Row, 128, 128, 64, 64, 32, 3>, S8Gemm<Col, Row, 128, 128, 64, 64, 32, 3>,
             FloatGemm<Row, Row, 128, 128, 8, 64, 32, 8, 8, 2>,
             FloatGemm<Row, Col, 128, 256, 16, 64, 64, 8, 16, 4>,
             FloatGemm<Row, Row, 128, 256, 16, 64, 64, 8, 16, 4>,
             FloatGemm<Col, Row, 128, 256, 16, 64, 64, 8, 16, 4>,
             FloatGemm<Col, Col, 128, 256, 16, 64, 64, 8, 16, 4>,
             FloatGemm<Row, Col, 128, 256, 32, 64, 64, 8, 16, 3>,
             FloatGemm<Row, Row, 128, 256, 32, 64, 64, 8, 16, 3>,
             FloatGemm<Col, Row, 128, 256, 32, 64, 64, 8, 16, 3>,
             FloatGemm<Col, Col, 128, 256, 32, 64, 64, 8, 16, 3>,
             HalfGemm<Half, Row, Col, 128, 256, 64, 64, 64, 3>,
             HalfGemm<Half, Row, Row, 128, 128, 32, 64, 32, 3>,
             HalfGemm<Bfloat16, Row, Col, 128, 256, 64, 64, 64, 3>>;

}  // namespace weft::perf
