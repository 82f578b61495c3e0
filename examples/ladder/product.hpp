// What every step of the ladder computes: C = A B of signed bytes, sums in int32, exact.
#pragma once
#include <cstdint>

#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/layouts/matrix.hpp"

namespace ladder {

namespace arch = weft::arch;

using Bytes = weft::layouts::Matrix<const std::int8_t>;
using Sums = weft::layouts::Matrix<std::int32_t>;

// What a kernel is given. k runs along memory in both operands, in whole 16 bytes; n is a multiple
// of 4; m and n need not be multiples of any tile. The host has checked this (steps.hpp).
struct Product {
  Bytes a;  // m x k, row-major
  Bytes b;  // k x n, column-major
  Sums c;   // m x n, row-major
};

// Of step 10: what TMA is told about a matrix, of which it loads 128 bytes of `rows`
// rows at a time, the width of its swizzle.
inline arch::TensorMapSpec Boxes(const Bytes& of, int rows) {
  return {.base = of.data,
          .stride = {static_cast<std::uint64_t>(of.row_stride)},
          .dim = {static_cast<std::uint32_t>(of.cols), static_cast<std::uint32_t>(of.rows)},
          .rank = 2,
          .element_bytes = 1,
          .swizzle = arch::SwizzleSpan::k128,
          .box = {128, static_cast<std::uint16_t>(rows)}};
}

struct MappedProduct : Product {
  arch::TensorMap a_map, b_map;  // Boxes of A and of B's columns
};

// Accesses of 8 and 16 bytes.
template <class T, int kCount>
struct alignas(kCount * sizeof(T)) Pack {
  T v[kCount];
};
using Words = Pack<std::uint32_t, 4>;

inline namespace WEFT_BACKEND {

// The T that begins at byte k of a row: bytes of zeros outside the matrix, so that ragged tiles add
// nothing to a sum.
template <class T>
WEFT_DEVICE T LoadBytes(arch::Thread t, const Bytes& rows, int row, int k) {
  const bool inside = row < rows.rows && k < rows.cols;
  const std::int8_t* const p = &rows(inside ? row : 0, inside ? k : 0);
  return t.LoadGlobalOr0(reinterpret_cast<const T*>(p), inside);
}

// kCount sums side by side, if they lie in C.
template <int kCount>
WEFT_DEVICE void StoreSums(arch::Thread t, const Sums& c, int row, int column,
                           const Pack<std::int32_t, kCount>& sums) {
  if (row >= c.rows || column >= c.cols) return;
  t.StoreGlobal(reinterpret_cast<Pack<std::int32_t, kCount>*>(&c(row, column)), sums);
}

}  // namespace WEFT_BACKEND
}  // namespace ladder
