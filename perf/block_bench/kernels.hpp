// The products of block_bench: cubes of 16 to 128, one to a block; those of 64 and more also in other
// ways.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/launch_result.hpp"
#include "weft/gemm/block.hpp"

namespace weft::perf {

enum class CubeWay {
  kWhole,   // all of A and B is loaded and then multiplied
  kWgmma,   // the same by wgmma: int8 and half, for sm_90a alone
  kGlobal,  // MultiplyGlobal, in k tiles: floats, of which few whole ones fit a multiprocessor
};

// A row-major, B column-major: k runs along memory in both.
template <class Element, int kSize, CubeWay kWay>
struct CubeProduct : gemm::BlockTypes<Element, layouts::RowMajor, layouts::ColumnMajor> {
  static constexpr gemm::BlockConfig config{
      .shape = {kSize, kSize, kSize},
      .mainloop = kWay == CubeWay::kWgmma           ? gemm::Mainloop::kWgmmaSm90
                  : !std::is_same_v<Element, float> ? gemm::Mainloop::kMmaSm80
                  : kSize < 64                      ? gemm::Mainloop::kSimt
                                                    : gemm::Mainloop::kSimtAsync,
      .threads = 0,
      .alignment = 16};
};

template <class Element>
struct CubeParams {
  const Element *a, *b;                    // [product][size][size]
  typename gemm::SumOf<Element>::type* c;  // likewise
};

inline namespace WEFT_BACKEND {

template <class Element, int kSize, CubeWay kWay>
struct CubeKernel {  // grid: products
  using Product = gemm::Block<CubeProduct<Element, kSize, kWay>>;
  static constexpr bool kKTiles = kWay == CubeWay::kGlobal;
  using Params = CubeParams<Element>;
  using SharedStorage =
      std::conditional_t<kKTiles, typename Product::SharedStages, typename Product::SharedStorage>;
  static constexpr int kThreads = Product::kThreads;
  static constexpr int kMinBlocksPerSm = kKTiles ? 2 : 1;
  static constexpr arch::Requires kRequires = Product::kRequires;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const auto matrix = [&](auto* all, auto order) {
      return layouts::MakeMatrix(all + std::int64_t{t.block_x()} * kSize * kSize, kSize, kSize,
                                 order);
    };
    const auto from_a = matrix(p.a, layouts::RowMajor{});
    const auto from_b = matrix(p.b, layouts::ColumnMajor{});
    typename Product::Accumulators sums;
    if constexpr (kKTiles) {
      Product::MultiplyGlobal(t, shared, from_a, from_b, sums);
    } else {
      const auto a = Product::ViewA(shared.a);
      const auto b = Product::ViewB(shared.b);
      Product::CopyA(t, from_a, a);
      Product::CopyB(t, from_b, b);
      Product::WaitForCopies(t);
      Product::Multiply(t, a, b, sums);
    }
    constexpr int kVector = Product::Accumulators::kRun < 4 ? 2 : 4;
    sums.template StoreGlobal<kVector>(t, matrix(p.c, layouts::RowMajor{}));
  }
};

}  // namespace WEFT_BACKEND

inline constexpr int kCubeSizes[] = {16, 32, 48, 64, 96, 128};

// Whether kCubeSizes[size] has a kernel of the way, for these elements.
template <class Element>
constexpr bool HasWay(CubeWay way, int size) {
  return way == CubeWay::kWhole ||
         (kCubeSizes[size] >= 64 && std::is_same_v<Element, float> == (way == CubeWay::kGlobal));
}

// Enqueues `products` of extent kCubeSizes[size], in a way that they have. Defined in launch.cu.
template <class Element>
arch::LaunchResult LaunchCubes(CubeWay way, int size, int products,
                               const CubeParams<Element>& params, Stream stream);

}  // namespace weft::perf
