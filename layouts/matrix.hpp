// Matrix: a pointer with rows, columns and one stride for each: the plain view that matrix products
// take. It owns nothing and is a plain struct, so it can be a kernel parameter.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/layouts/algebra/layout.hpp"

namespace weft::layouts {

// Element (i, j) lives at data[i * row_stride + j * col_stride]. Strides count elements and may be
// negative or 0 (a broadcast). Row-major has col_stride 1, column-major row_stride 1.
template <class Type>
struct Matrix {
  Type* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;

  constexpr Type& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * row_stride + j * col_stride];
  }

  // The same elements with rows and columns exchanged.
  constexpr Matrix Transposed() const { return {data, cols, rows, col_stride, row_stride}; }

  // Rows i to i + block_rows - 1 and columns j to j + block_cols - 1; they must lie in the matrix.
  constexpr Matrix Block(std::int64_t i, std::int64_t j, std::int64_t block_rows,
                         std::int64_t block_cols) const {
    return {data + (i * row_stride + j * col_stride), block_rows, block_cols, row_stride,
            col_stride};
  }

  // (rows, cols):(row_stride, col_stride).
  constexpr auto layout() const {
    return MakeLayout(MakeTuple(rows, cols), MakeTuple(row_stride, col_stride));
  }

  constexpr bool is_row_major() const { return col_stride == 1; }
  constexpr bool is_column_major() const { return row_stride == 1; }

  // A view that cannot write.
  template <class OtherType>
    requires(!std::is_const_v<Type> && std::is_same_v<OtherType, const Type>)
  constexpr operator Matrix<OtherType>() const {
    return {data, rows, cols, row_stride, col_stride};
  }
};

// A compact row-major matrix.
template <class Type>
constexpr Matrix<Type> MakeMatrix(Type* data, std::int64_t rows, std::int64_t cols, RowMajor) {
  return {data, rows, cols, cols, 1};
}

// A row-major matrix whose rows begin `leading` elements apart.
template <class Type>
constexpr Matrix<Type> MakeMatrix(Type* data, std::int64_t rows, std::int64_t cols, RowMajor,
                                  std::int64_t leading) {
  return {data, rows, cols, leading, 1};
}

// A compact column-major matrix.
template <class Type>
constexpr Matrix<Type> MakeMatrix(Type* data, std::int64_t rows, std::int64_t cols, ColumnMajor) {
  return {data, rows, cols, 1, rows};
}

// A column-major matrix whose columns begin `leading` elements apart.
template <class Type>
constexpr Matrix<Type> MakeMatrix(Type* data, std::int64_t rows, std::int64_t cols, ColumnMajor,
                                  std::int64_t leading) {
  return {data, rows, cols, 1, leading};
}

}  // namespace weft::layouts
