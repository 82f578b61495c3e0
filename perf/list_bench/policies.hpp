// The operators of list_bench: lists of products with row-major A and column-major B, sums as they are.
// perf/operators.cmake compiles these.
#pragma once

#include "perf/gemm_bench/policies.hpp"

namespace weft::perf {

// A large tile and one for products of few rows.
template <class Element, class Sum>
using ListTiles = gemm::ListedFamily<
    gemm::Family<gemm::TiledGemm<Element, Sums<Sum>, gemm::product_tiles::Wgmma128x256>,
                 gemm::TiledGemm<Element, Sums<Sum>, gemm::product_tiles::Wgmma64x128>>>;
using S8Lists = ListTiles<std::int8_t, std::int32_t>;
using HalfLists = ListTiles<Half, float>;

}  // namespace weft::perf
