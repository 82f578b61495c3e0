// The families behind the lines of perf/gemms.def: C row-major, the plain sums or these as 16-bit floats.
#pragma once

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/ready_made.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::perf {

template <class Sum>
using Sums = epilogues::Chain<epilogues::ToSums<Sum>>;
using ToHalf = epilogues::Chain<epilogues::Scale, epilogues::RoundTo<Half>>;
using Row = layouts::RowMajor;
using Column = layouts::ColumnMajor;

using S8RowColumn = gemm::S8GemmFamily<Sums<std::int32_t>>;
using S8RowRow = gemm::S8GemmFamily<Sums<std::int32_t>, Row, Row>;
using S8ColumnRow = gemm::S8GemmFamily<Sums<std::int32_t>, Column, Row>;
using S8ColumnColumn = gemm::S8GemmFamily<Sums<std::int32_t>, Column, Column>;
using U8RowColumn = gemm::U8GemmFamily<Sums<std::int32_t>>;
using U8RowRow = gemm::U8GemmFamily<Sums<std::int32_t>, Row, Row>;
using U8ColumnRow = gemm::U8GemmFamily<Sums<std::int32_t>, Column, Row>;
using U8ColumnColumn = gemm::U8GemmFamily<Sums<std::int32_t>, Column, Column>;
using HalfRowColumn = gemm::HalfGemmFamily<Sums<float>>;
using HalfRowRow = gemm::HalfGemmFamily<Sums<float>, Row, Row>;
using HalfColumnColumn = gemm::HalfGemmFamily<Sums<float>, Column, Column>;
using HalfColumnRow = gemm::HalfGemmFamily<Sums<float>, Column, Row>;
using Bfloat16RowColumn = gemm::Bfloat16GemmFamily<Sums<float>>;
using Bfloat16RowRow = gemm::Bfloat16GemmFamily<Sums<float>, Row, Row>;
using Bfloat16ColumnRow = gemm::Bfloat16GemmFamily<Sums<float>, Column, Row>;
using Bfloat16ColumnColumn = gemm::Bfloat16GemmFamily<Sums<float>, Column, Column>;
using HalfSumRowColumn = gemm::HalfSumGemmFamily<ToHalf>;
using HalfSumRowRow = gemm::HalfSumGemmFamily<ToHalf, Row, Row>;
using HalfSumColumnRow = gemm::HalfSumGemmFamily<ToHalf, Column, Row>;
using HalfSumColumnColumn = gemm::HalfSumGemmFamily<ToHalf, Column, Column>;
using E4m3RowColumn = gemm::E4m3GemmFamily<Sums<float>>;
using E4m3RowRow = gemm::E4m3GemmFamily<Sums<float>, Row, Row>;
using E4m3ColumnRow = gemm::E4m3GemmFamily<Sums<float>, Column, Row>;
using E4m3ColumnColumn = gemm::E4m3GemmFamily<Sums<float>, Column, Column>;
using E5m2RowColumn = gemm::E5m2GemmFamily<Sums<float>>;
using E5m2RowRow = gemm::E5m2GemmFamily<Sums<float>, Row, Row>;
using E5m2ColumnRow = gemm::E5m2GemmFamily<Sums<float>, Column, Row>;
using E5m2ColumnColumn = gemm::E5m2GemmFamily<Sums<float>, Column, Column>;
using Tf32RowColumn = gemm::Tf32GemmFamily<Sums<float>>;
using Tf32RowRow = gemm::Tf32GemmFamily<Sums<float>, Row, Row>;
using Tf32ColumnRow = gemm::Tf32GemmFamily<Sums<float>, Column, Row>;
using Tf32ColumnColumn = gemm::Tf32GemmFamily<Sums<float>, Column, Column>;

template <class T>
using RoundedTo = epilogues::Chain<epilogues::Scale, epilogues::RoundTo<T>>;
using HalfToHalfRowColumn = gemm::HalfGemmFamily<RoundedTo<Half>>;
using HalfToHalfRowRow = gemm::HalfGemmFamily<RoundedTo<Half>, Row, Row>;
using HalfToHalfColumnColumn = gemm::HalfGemmFamily<RoundedTo<Half>, Column, Column>;
using Bfloat16ToBfloat16RowColumn = gemm::Bfloat16GemmFamily<RoundedTo<Bfloat16>>;

using FloatRowColumn = gemm::FloatGemmFamily<Sums<float>>;
using FloatRowRow = gemm::FloatGemmFamily<Sums<float>, Row, Row>;
using FloatColumnRow = gemm::FloatGemmFamily<Sums<float>, Column, Row>;
using FloatColumnColumn = gemm::FloatGemmFamily<Sums<float>, Column, Column>;
using DoubleRowColumn = gemm::DoubleGemmFamily<Sums<double>>;
using DoubleRowRow = gemm::DoubleGemmFamily<Sums<double>, Row, Row>;
using DoubleColumnRow = gemm::DoubleGemmFamily<Sums<double>, Column, Row>;
using DoubleColumnColumn = gemm::DoubleGemmFamily<Sums<double>, Column, Column>;

template <class T, class A, class B>
using ComplexOf = gemm::ComplexGemmFamily<Complex<T>, Sums<Complex<T>>, A, B>;
using ComplexFloatRowColumn = ComplexOf<float, Row, Column>;
using ComplexFloatRowRow = ComplexOf<float, Row, Row>;
using ComplexFloatColumnRow = ComplexOf<float, Column, Row>;
using ComplexFloatColumnColumn = ComplexOf<float, Column, Column>;
using ComplexDoubleRowColumn = ComplexOf<double, Row, Column>;
using ComplexDoubleRowRow = ComplexOf<double, Row, Row>;
using ComplexDoubleColumnRow = ComplexOf<double, Column, Row>;
using ComplexDoubleColumnColumn = ComplexOf<double, Column, Column>;

template <class ElementA, class ElementB, class A, class B>
using MixedOf = gemm::MixedGemmFamily<ElementA, ElementB, Sums<float>, A, B>;
using HalfByS8RowColumn = MixedOf<Half, std::int8_t, Row, Column>;
using HalfByS8RowRow = MixedOf<Half, std::int8_t, Row, Row>;
using HalfByS8ColumnRow = MixedOf<Half, std::int8_t, Column, Row>;
using HalfByS8ColumnColumn = MixedOf<Half, std::int8_t, Column, Column>;
using HalfByInt4RowColumn = MixedOf<Half, Int4, Row, Column>;
using HalfByInt4RowRow = MixedOf<Half, Int4, Row, Row>;
using HalfByInt4ColumnRow = MixedOf<Half, Int4, Column, Row>;
using HalfByInt4ColumnColumn = MixedOf<Half, Int4, Column, Column>;
using S8ByHalfRowColumn = MixedOf<std::int8_t, Half, Row, Column>;
using S8ByHalfRowRow = MixedOf<std::int8_t, Half, Row, Row>;
using S8ByHalfColumnRow = MixedOf<std::int8_t, Half, Column, Row>;
using S8ByHalfColumnColumn = MixedOf<std::int8_t, Half, Column, Column>;
using Bfloat16ByInt4RowColumn = MixedOf<Bfloat16, Int4, Row, Column>;
using Bfloat16ByInt4RowRow = MixedOf<Bfloat16, Int4, Row, Row>;
using Bfloat16ByInt4ColumnRow = MixedOf<Bfloat16, Int4, Column, Row>;
using Bfloat16ByInt4ColumnColumn = MixedOf<Bfloat16, Int4, Column, Column>;

}  // namespace weft::perf
