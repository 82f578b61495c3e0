// The families behind the lines of perf/gemms.def, by the orders of A and B: C row-major, the plain sums or these as 16-bit
// floats.
#pragma once

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/ready_made.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/matrix.hpp"

namespace weft::perf {

template <class Sum>
using Sums = epilogues::Chain<epilogues::ToSums<Sum>>;
template <class T>
using RoundedTo = epilogues::Chain<epilogues::Scale, epilogues::RoundTo<T>>;
using Row = layouts::RowMajor;
using Column = layouts::ColumnMajor;

namespace gemms {

template <class A, class B>
using S8 = gemm::S8GemmFamily<Sums<std::int32_t>, A, B>;
template <class A, class B>
using U8 = gemm::U8GemmFamily<Sums<std::int32_t>, A, B>;
template <class A, class B>
using Half = gemm::HalfGemmFamily<Sums<float>, A, B>;
template <class A, class B>
using Bfloat16 = gemm::Bfloat16GemmFamily<Sums<float>, A, B>;
template <class A, class B>
using HalfSum = gemm::HalfSumGemmFamily<RoundedTo<weft::Half>, A, B>;
template <class A, class B>
using HalfToHalf = gemm::HalfGemmFamily<RoundedTo<weft::Half>, A, B>;
template <class A, class B>
using Bfloat16ToBfloat16 = gemm::Bfloat16GemmFamily<RoundedTo<weft::Bfloat16>, A, B>;
template <class A, class B>
using E4m3 = gemm::E4m3GemmFamily<Sums<float>, A, B>;
template <class A, class B>
using E5m2 = gemm::E5m2GemmFamily<Sums<float>, A, B>;
template <class A, class B>
using Tf32 = gemm::Tf32GemmFamily<Sums<float>, A, B>;
template <class A, class B>
using Float = gemm::FloatGemmFamily<Sums<float>, A, B>;
template <class A, class B>
using Double = gemm::DoubleGemmFamily<Sums<double>, A, B>;
template <class A, class B>
using ComplexFloat = gemm::ComplexGemmFamily<Complex<float>, Sums<Complex<float>>, A, B>;
template <class A, class B>
using ComplexDouble = gemm::ComplexGemmFamily<Complex<double>, Sums<Complex<double>>, A, B>;
template <class A, class B>
using HalfByS8 = gemm::MixedGemmFamily<weft::Half, std::int8_t, Sums<float>, A, B>;
template <class A, class B>
using HalfByInt4 = gemm::MixedGemmFamily<weft::Half, Int4, Sums<float>, A, B>;
template <class A, class B>
using S8ByHalf = gemm::MixedGemmFamily<std::int8_t, weft::Half, Sums<float>, A, B>;
template <class A, class B>
using Bfloat16ByInt4 = gemm::MixedGemmFamily<weft::Bfloat16, Int4, Sums<float>, A, B>;

}  // namespace gemms

// Calls each(family, name) for every line, such as "S8RowColumn".
template <class Each>
void ForEachGemmFamily(const Each& each) {
#define GEMM(Type, A, B) each(gemms::Type<A, B>(), #Type #A #B);
#define ORDERS(Type)      \
  GEMM(Type, Row, Column) \
  GEMM(Type, Row, Row)    \
  GEMM(Type, Column, Row) \
  GEMM(Type, Column, Column)
#include "perf/gemms.def"
#undef GEMM
#undef ORDERS
}

}  // namespace weft::perf
