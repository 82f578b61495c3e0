// What gemm::Block is measured against among ours: whole kernels, gemm::Gemm, over the same products as a batch.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/ready_made.hpp"

namespace weft::perf {

template <class Element, class... Tiles>
using WholeFamily = gemm::Family<gemm::TiledGemm<
    Element, epilogues::Chain<epilogues::ToSums<typename gemm::SumOf<Element>::type>>, Tiles>...>;

// Of tensor cores, and of floats.
struct WholeMma32x32 {
  static constexpr gemm::MmaSizes kSizes = {
      .block = {32, 32, 64}, .warp = {16, 32, 64}, .stages = 4};
};
template <class Element>
using WholeOf = std::conditional_t<
    std::is_same_v<Element, float>,
    WholeFamily<float, gemm::product_tiles::AsyncFma32x32, gemm::product_tiles::AsyncFma64x64,
                gemm::product_tiles::AsyncFma128x128>,
    WholeFamily<Element, WholeMma32x32, gemm::product_tiles::Mma64x64,
                gemm::product_tiles::Mma128x128, gemm::product_tiles::Wgmma64x64,
                gemm::product_tiles::Wgmma128x128>>;

using BlockOperators = gemm::JoinFamilies<WholeOf<std::int8_t>, WholeOf<Half>, WholeOf<float>>;

}  // namespace weft::perf
