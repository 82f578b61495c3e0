// The policies behind the lines of perf/gemms.def: C row-major, the plain sums.
#pragma once

#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/gemm_policy.hpp"
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
  static constexpr auto config = gemm::MmaSm80Config({m, n, k}, {warp_m, warp_n, k}, stages, 16);
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n, int stages>
struct Bfloat16Gemm : HalfGemm<kA, kB, m, n, k, warp_m, warp_n, stages> {
  using Element = Bfloat16;
};
// Through wgmma_sm90; warp is a warpgroup's share.
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n>
struct WgmmaS8Gemm : BenchGemm<std::int8_t, kA, kB> {
  static constexpr auto config = gemm::WgmmaSm90Config({m, n, k}, {warp_m, warp_n, k});
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n>
struct WgmmaHalfGemm : BenchGemm<Half, kA, kB> {
  static constexpr auto config = gemm::WgmmaSm90Config({m, n, k}, {warp_m, warp_n, k});
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n>
struct WgmmaBfloat16Gemm : WgmmaHalfGemm<kA, kB, m, n, k, warp_m, warp_n> {
  using Element = Bfloat16;
};
template <char kA, char kB, int m, int n, int k, int warp_m, int warp_n, int thread_m, int thread_n,
          int stages>
struct FloatGemm : BenchGemm<float, kA, kB> {
  static constexpr auto config = [] {
    constexpr gemm::TileShape kBlock = {m, n, k}, kWarp = {warp_m, warp_n, k};
    constexpr gemm::TileShape kThread = {thread_m, thread_n, 1};
    constexpr gemm::Alignment kAlignment = {16, 16};
    if constexpr (stages == 2) {
      return gemm::SimtConfig(kBlock, kWarp, kThread, kAlignment);
    } else {
      return gemm::SimtAsyncConfig(kBlock, kWarp, kThread, stages, kAlignment);
    }
  }();
};

}  // namespace weft::perf
