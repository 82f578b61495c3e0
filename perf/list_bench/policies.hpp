// The operators of list_bench: lists of products with row-major A and column-major B, sums as they are.
#pragma once

#include "perf/gemm_bench/policies.hpp"

namespace weft::perf {

// A large tile and one for products of few rows.
template <class Element, class Sum>
using ListTiles =
    gemm::Family<gemm::TiledGemm<Element, Sums<Sum>, gemm::product_tiles::Wgmma128x256>,
                 gemm::TiledGemm<Element, Sums<Sum>, gemm::product_tiles::Wgmma64x128>>;
using S8Lists = ListTiles<std::int8_t, std::int32_t>;
using HalfLists = ListTiles<Half, float>;

using ListOperators = gemm::ListedFamily<gemm::JoinFamilies<S8Lists, HalfLists>>;

}  // namespace weft::perf
