// The families behind the lines of perf/gemms.def: C row-major, the plain sums.
#pragma once

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/ready_made.hpp"
#include "weft/layouts/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::perf {

template <class Sum>
using Sums = epilogues::Chain<epilogues::ToSums<Sum>>;
using Row = layouts::RowMajor;
using Column = layouts::ColumnMajor;

using S8RowColumn = gemm::S8GemmFamily<Sums<std::int32_t>>;
using S8RowRow = gemm::S8GemmFamily<Sums<std::int32_t>, Row, Row>;
using S8ColumnRow = gemm::S8GemmFamily<Sums<std::int32_t>, Column, Row>;
using HalfRowColumn = gemm::HalfGemmFamily<Sums<float>>;
using HalfRowRow = gemm::HalfGemmFamily<Sums<float>, Row, Row>;
using HalfColumnColumn = gemm::HalfGemmFamily<Sums<float>, Column, Column>;
using HalfColumnRow = gemm::HalfGemmFamily<Sums<float>, Column, Row>;
using Bfloat16RowColumn = gemm::Bfloat16GemmFamily<Sums<float>>;
using Bfloat16RowRow = gemm::Bfloat16GemmFamily<Sums<float>, Row, Row>;
using E4m3RowColumn = gemm::E4m3GemmFamily<Sums<float>>;
using Tf32RowColumn = gemm::Tf32GemmFamily<Sums<float>>;

// Tiles with config.stream alone; those without are above.
template <class Element, class Sum>
using StreamedTiles = gemm::Family<
    gemm::Streamed<gemm::TiledGemm<Element, Sums<Sum>, gemm::WgmmaTileOf<128, 256, 128, 128, 128>>>,
    gemm::Streamed<gemm::TiledGemm<Element, Sums<Sum>, gemm::WgmmaTileOf<256, 128, 128, 256, 64>>>,
    gemm::Streamed<gemm::TiledGemm<Element, Sums<Sum>, gemm::WgmmaTileOf<128, 128, 128, 128, 64>>>>;
using HalfStreamed = StreamedTiles<Half, float>;
using S8Streamed = StreamedTiles<std::int8_t, std::int32_t>;

using FloatRowColumn = gemm::FloatGemmFamily<Sums<float>>;
using FloatRowRow = gemm::FloatGemmFamily<Sums<float>, Row, Row>;
using FloatColumnRow = gemm::FloatGemmFamily<Sums<float>, Column, Row>;
using FloatColumnColumn = gemm::FloatGemmFamily<Sums<float>, Column, Column>;
using DoubleRowColumn = gemm::DoubleGemmFamily<Sums<double>>;
using DoubleRowRow = gemm::DoubleGemmFamily<Sums<double>, Row, Row>;
using DoubleColumnRow = gemm::DoubleGemmFamily<Sums<double>, Column, Row>;
using DoubleColumnColumn = gemm::DoubleGemmFamily<Sums<double>, Column, Column>;

using ComplexFloatRowColumn = gemm::ComplexGemmFamily<Complex<float>>;
using ComplexFloatRowRow = gemm::ComplexGemmFamily<Complex<float>, Sums<Complex<float>>, Row, Row>;
using ComplexDoubleRowColumn = gemm::ComplexGemmFamily<Complex<double>>;
using ComplexDoubleRowRow =
    gemm::ComplexGemmFamily<Complex<double>, Sums<Complex<double>>, Row, Row>;

using HalfByS8RowColumn = gemm::MixedGemmFamily<Half, std::int8_t, Sums<float>>;
using HalfByInt4RowColumn = gemm::MixedGemmFamily<Half, Int4, Sums<float>>;
using HalfByInt4RowRow = gemm::MixedGemmFamily<Half, Int4, Sums<float>, Row, Row>;
using S8ByHalfRowColumn = gemm::MixedGemmFamily<std::int8_t, Half, Sums<float>>;
using Bfloat16ByInt4RowColumn = gemm::MixedGemmFamily<Bfloat16, Int4, Sums<float>>;

}  // namespace weft::perf
