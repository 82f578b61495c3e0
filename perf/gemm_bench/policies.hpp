// The families of perf/gemms.def, by the orders of A and B: C row-major, the plain sums or these as 16-bit floats.
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

#define FAMILY(Type, Family, ...) \
  template <class A, class B>     \
  using Type = gemm::Family<__VA_ARGS__, A, B>;
#define GEMM(Type, A, B)
#include "perf/gemms.def"

}  // namespace gemms

// Calls each(family, name) for every line, such as "S8RowColumn".
template <class Each>
void ForEachGemmFamily(const Each& each) {
#define FAMILY(...)
#define GEMM(Type, A, B) each(gemms::Type<A, B>(), #Type #A #B);
#include "perf/gemms.def"
}

}  // namespace weft::perf
