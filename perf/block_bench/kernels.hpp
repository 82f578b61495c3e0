// The products of block_bench: cubes of 16 to 128, one to a block; those of 64 and more also by wgmma.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/launch_result.hpp"
#include "weft/gemm/block.hpp"

namespace weft::perf {

// A row-major, B column-major: k runs along memory in both.
template <class Element, int kSize, bool kWgmma = false>
struct CubeProduct : gemm::BlockTypes<Element, layouts::RowMajor, layouts::ColumnMajor> {
  static constexpr gemm::BlockConfig config{.shape = {kSize, kSize, kSize},
                                            .mainloop = kWgmma ? gemm::Mainloop::kWgmmaSm90
                                                        : std::is_same_v<Element, float>
                                                            ? gemm::Mainloop::kSimtAsync
                                                            : gemm::Mainloop::kMmaSm80,
                                            .threads = 0,
                                            .alignment = 16};
};

template <class Element>
struct CubeParams {
  const Element *a, *b;                    // [product][size][size]
  typename gemm::SumOf<Element>::type* c;  // likewise
};

inline namespace WEFT_BACKEND {

template <class Element, int kSize, bool kWgmma = false>
struct CubeKernel {  // grid: products
  using Product = gemm::Block<CubeProduct<Element, kSize, kWgmma>>;
  using Params = CubeParams<Element>;
  using SharedStorage = typename Product::SharedStorage;
  static constexpr int kThreads = Product::kThreads;
  static constexpr arch::Requires kRequires = Product::kRequires;
  WEFT_DEVICE void operator()(const Params& p, SharedStorage& shared, arch::Thread t) const {
    const auto matrix = [&](auto* all, auto order) {
      return layouts::MakeMatrix(all + std::int64_t{t.block_x()} * kSize * kSize, kSize, kSize,
                                 order);
    };
    const auto a = Product::ViewA(shared.a);
    const auto b = Product::ViewB(shared.b);
    Product::CopyA(t, matrix(p.a, layouts::RowMajor{}), a);
    Product::CopyB(t, matrix(p.b, layouts::ColumnMajor{}), b);
    Product::WaitForCopies(t);
    constexpr int kVector = Product::Accumulators::kRun < 4 ? 2 : 4;
    Product::Multiply(t, a, b).template StoreGlobal<kVector>(t, matrix(p.c, layouts::RowMajor{}));
  }
};

}  // namespace WEFT_BACKEND

inline constexpr int kCubeSizes[] = {16, 32, 48, 64, 96, 128};

// Whether there is a kernel of the size by wgmma, of int8 and half and for sm_90a alone.
constexpr bool HasWgmma(int size) {
  return kCubeSizes[size] >= 64;
}
// Enqueues it.
arch::LaunchResult LaunchCubesByWgmma(int size, int products, const CubeParams<std::int8_t>& params,
                                      Stream stream);
arch::LaunchResult LaunchCubesByWgmma(int size, int products, const CubeParams<Half>& params,
                                      Stream stream);

// Enqueues `products` of extent kCubeSizes[size]. Defined in launch.cu.
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<std::int8_t>& params,
                               Stream stream);
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<Half>& params,
                               Stream stream);
arch::LaunchResult LaunchCubes(int size, int products, const CubeParams<float>& params,
                               Stream stream);

}  // namespace weft::perf
