// Coordinate tensors: views whose elements are their own coordinates in a matrix. Cut, sliced and
// partitioned as the matrix is, they say where each element comes from, and so whether it exists.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/layouts/tensor_view.hpp"

namespace weft::layouts {

struct RowColumn {
  std::int32_t row = 0, column = 0;
  friend constexpr bool operator==(const RowColumn&, const RowColumn&) = default;
};

// Offsets whose low 32 bits are a row and whose high 32 a column: layouts of numbers then do for
// layouts of coordinates.
struct CoordinateIterator {
  static constexpr std::int64_t kColumn = std::int64_t{1} << 32;

  std::int64_t at = 0;
  RowColumn extent = {};  // of the matrix

  constexpr RowColumn operator[](std::int64_t offset) const {
    const std::int64_t place = at + offset;
    return {static_cast<std::int32_t>(place), static_cast<std::int32_t>(place >> 32)};
  }
  friend constexpr CoordinateIterator operator+(CoordinateIterator it, std::int64_t offset) {
    return {it.at + offset, it.extent};
  }
};

// Element (i, j) is RowColumn{i, j}, for i < rows and j < columns below 2^31, and in the tiles that
// reach past these too.
template <Integer Rows, Integer Columns>
constexpr auto CoordinateTensor(Rows rows, Columns columns) {
  return MakeTensorView(
      CoordinateIterator{0, {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns)}},
      MakeLayout(MakeTuple(rows, columns),
                 MakeTuple(Int<1>{}, Int<CoordinateIterator::kColumn>{})));
}

// Type is a view of coordinates.
template <class Type>
concept IsCoordinateTensor =
    IsTensorView<Type> &&
    std::is_same_v<std::remove_cvref_t<decltype(std::declval<Type>().data())>, CoordinateIterator>;

// Whether the coordinate at `index` (one number, or one entry for each mode) is one of the matrix.
template <IsCoordinateTensor View, class... Cs>
constexpr bool IsInside(View where, Cs... index) {
  const RowColumn at = where(index...), extent = where.data().extent;
  return at.row < extent.row && at.column < extent.column;
}

}  // namespace weft::layouts
