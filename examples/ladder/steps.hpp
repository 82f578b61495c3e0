// The steps in their order, and what the host does for each.
#pragma once
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "examples/ladder/step01_naive.hpp"
#include "examples/ladder/step02_block_tiles.hpp"
#include "examples/ladder/step03_thread_tiles.hpp"
#include "examples/ladder/step04_vector_loads.hpp"
#include "examples/ladder/step05_double_buffering.hpp"
#include "examples/ladder/step06_cp_async.hpp"
#include "examples/ladder/step07_warp_tiles.hpp"
#include "examples/ladder/step08_tensor_cores.hpp"
#include "examples/ladder/step09_swizzle.hpp"
#include "examples/ladder/step10_wgmma.hpp"

namespace ladder {

// Empty, or why no step multiplies m x k by k x n.
inline std::string Fault(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kMostRows = 65535 * 8, kMostColumns = std::int64_t{1} << 30;
  constexpr std::int64_t kMostK = (std::int64_t{1} << 31) / (128 * 128) - 16;
  const auto fault = [](const char* name, std::int64_t value, const std::string& rule) {
    return std::string("ladder: ") + name + "=" + std::to_string(value) + rule;
  };
  if (m < 1 || m > kMostRows) {
    return fault("m", m, " is not 1 to 524280, the rows of the naive step's largest grid");
  }
  if (n < 4 || n > kMostColumns || n % 4 != 0) {
    return fault("n", n, " is not a multiple of 4 up to 2^30: sums are stored by 16 bytes; pad B");
  }
  if (k < 16 || k > kMostK || k % 16 != 0) {
    return fault("k", k,
                 " is not a multiple of 16 up to 131056: rows are read by 16 bytes, and larger "
                 "sums overflow int32; pad A and B with zeros");
  }
  return {};
}

inline Product MakeProduct(const std::int8_t* a, const std::int8_t* b, std::int32_t* c,
                           std::int64_t m, std::int64_t n, std::int64_t k) {
  using weft::layouts::MakeMatrix;
  return {MakeMatrix(a, m, k, weft::layouts::RowMajor{}),
          MakeMatrix(b, k, n, weft::layouts::ColumnMajor{}),
          MakeMatrix(c, m, n, weft::layouts::RowMajor{})};
}

inline namespace WEFT_BACKEND {

using Steps = std::tuple<Naive, BlockTiles, ThreadTiles, VectorLoads, DoubleBuffering, CpAsync,
                         WarpTiles, TensorCores, Swizzled, Wgmma>;
inline constexpr int kSteps = std::tuple_size_v<Steps>;

// visit(std::type_identity<Kernel>) of step number `step`, from 0.
template <int kStep = 0, class Visit>
auto VisitStep(int step, Visit visit) {
  if constexpr (kStep + 1 < kSteps) {
    if (step != kStep) return VisitStep<kStep + 1>(step, visit);
  }
  return visit(std::type_identity<std::tuple_element_t<kStep, Steps>>());
}

template <class Kernel>
arch::Dim3 GridOf(const Product& p) {
  const auto tiles = [](std::int64_t extent, int tile) {
    return static_cast<int>((extent + tile - 1) / tile);
  };
  return {tiles(p.c.cols, Kernel::kTileN), tiles(p.c.rows, Kernel::kTileM)};
}

// What the kernel is given. make_map(spec, &map): arch::MakeCpuTensorMap or EncodeTensorMap.
template <class Kernel, class MakeMap>
arch::LaunchResult MakeParams(const Product& p, MakeMap make_map, typename Kernel::Params* params) {
  static_cast<Product&>(*params) = p;
  if constexpr (std::is_same_v<typename Kernel::Params, MappedProduct>) {
    const arch::LaunchResult a = make_map(Boxes(p.a, Kernel::kTileM), &params->a_map);
    return a.ok() ? make_map(Boxes(p.b.Transposed(), Kernel::kTileN), &params->b_map) : a;
  }
  return {};
}

}  // namespace WEFT_BACKEND
}  // namespace ladder
