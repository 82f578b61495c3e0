// What gemm::Block is measured against among ours: whole kernels, gemm::Gemm, over the same products as a batch.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/gemm/ready_made.hpp"

namespace weft::perf {

template <class Element, class... Tiles>
using WholeFamily = gemm::Family<gemm::TiledGemm<
    Element, epilogues::Chain<epilogues::ToSums<typename gemm::SumOf<Element>::type>>, Tiles>...>;

// Of tensor cores.
template <class Element>
using WholeMma =
    WholeFamily<Element, gemm::MmaTileOf<32, 32, 64, 16, 32, 4>,
                gemm::MmaTileOf<64, 64, 64, 32, 32, 4>, gemm::MmaTileOf<128, 128, 64, 64, 32, 3>,
                gemm::WgmmaTileOf<64, 64, 128, 64, 64, 2>,
                gemm::WgmmaTileOf<128, 128, 128, 128, 64>>;
using WholeS8 = WholeMma<std::int8_t>;
using WholeHalf = WholeMma<Half>;
using WholeFloat = WholeFamily<float, gemm::FmaTileOf<32, 32, 16, 16, 32, 4, 4, 4>,
                               gemm::FmaTileOf<64, 64, 16, 32, 32, 8, 4, 4>,
                               gemm::FmaTileOf<128, 128, 16, 64, 32, 8, 8, 3>>;

template <class Element>
using WholeOf = std::conditional_t<
    std::is_same_v<Element, float>, WholeFloat,
    std::conditional_t<std::is_same_v<Element, std::int8_t>, WholeS8, WholeHalf>>;

}  // namespace weft::perf
