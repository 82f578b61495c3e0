// The policies behind the lines of perf/gemms.def: C row-major, the plain sums.
#pragma once

#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/gemm_params.hpp"
#include "weft/gemm/mma_config.hpp"
#include "weft/gemm/simt_config.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::perf {

// kA and kB are 'R' for row-major, 'C' for column-major.
template <class ElementT, char kA, char kB>
struct BenchGemm {
  template <char kOrder>
  using Order = std::conditional_t<kOrder == 'R', layouts::RowMajor, layouts::ColumnMajor>;
  using Element = ElementT;
  using LayoutA = Order<kA>;
  using LayoutB = Order<kB>;
  using LayoutC = layouts::RowMajor;
  using Epilogue = epilogues::Chain<epilogues::ToSums<typename gemm::SumOf<ElementT>::type>>;
};

// Threadblock (m, n, k), warp (m, n), thread (m, n) of simt, stages.
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n, int stages>
struct S8Gemm : BenchGemm<std::int8_t, kA, kB> {
  static constexpr auto config = gemm::MmaSm80Config({m, n, k}, {warp_m, warp_n, k}, stages, 16);
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n, int stages>
struct HalfGemm : BenchGemm<Half, kA, kB> {
  static constexpr auto config =
      gemm::MmaSm80HalfConfig({m, n, k}, {warp_m, warp_n, k}, stages, 16);
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n, int stages>
struct Bfloat16Gemm : HalfGemm<kA, kB, m, n, k, warp_m, warp_n, stages> {
  using Element = Bfloat16;
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n, int thread_m, int thread_n,
          int stages>
struct FloatGemm : BenchGemm<float, kA, kB> {
  static constexpr auto config = gemm::SimtAsyncConfig({m, n, k}, {warp_m, warp_n, k},
                                                       {thread_m, thread_n, 1}, stages, {16, 16});
};

}  // namespace weft::perf
