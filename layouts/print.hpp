// Layouts as text, on the host.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/layouts/algebra.hpp"

namespace weft::layouts {

// Numbers known at compile time carry a leading underscore: (_4,8):(_1,_4) has a static stride and
// a first extent of 4 that is part of the type, and a second extent of 8 that is not.
template <Integer IntegerT>
inline std::string ToString(IntegerT x) {
  return (StaticInteger<IntegerT> ? "_" : "") + std::to_string(static_cast<std::int64_t>(x));
}

inline std::string ToString(Underscore) {
  return "_";
}

template <class... Ts>
inline std::string ToString(const Tuple<Ts...>& tuple) {
  std::string text;
  ForEach(tuple, [&](const auto& x) { text += (text.empty() ? "" : ",") + ToString(x); });
  return "(" + text + ")";
}

// "(4,(2,3)):(2,(1,8))".
template <IsLayout LayoutT>
inline std::string ToString(const LayoutT& layout) {
  return ToString(layout.shape()) + ":" + ToString(layout.stride());
}

template <int kBits, int kBase, int kShift>
inline std::string ToString(Swizzle<kBits, kBase, kShift>) {
  return "Swizzle<" + std::to_string(kBits) + "," + std::to_string(kBase) + "," +
         std::to_string(kShift) + ">";
}

// "Swizzle<2,0,3> o _0 o (_8,_8):(_8,_1)": read from right to left, as functions compose.
template <IsComposedLayout Composed>
inline std::string ToString(const Composed& composed) {
  return ToString(typename Composed::Swizzle{}) + " o " + ToString(composed.offset()) + " o " +
         ToString(composed.layout());
}

namespace detail {

// A layout seen as a matrix: mode 0 down, all other modes (colexicographically) across.
template <class LayoutT>
inline std::vector<std::vector<std::int64_t>> OffsetTable(const LayoutT& layout) {
  const std::int64_t size = Size(layout);
  const std::int64_t rows = Size<0>(layout);
  const std::int64_t cols = rows == 0 ? 0 : size / rows;
  std::vector<std::vector<std::int64_t>> table(rows, std::vector<std::int64_t>(cols));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) table[i][j] = layout(i + j * rows);
  }
  return table;
}

inline std::string PadLeft(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

}  // namespace detail

// The layout and all its offsets: mode 0 down, the others across.
//
//   (4,2):(2,1)
//        0  1
//      ------
//   0 |  0  1
//   1 |  2  3
//   2 |  4  5
//   3 |  6  7
template <class LayoutT>
  requires IsLayout<LayoutT> || IsComposedLayout<LayoutT>
inline std::string ToTable(const LayoutT& layout) {
  const auto table = detail::OffsetTable(layout);
  std::size_t width = 1;
  for (const auto& row : table) {
    for (const std::int64_t offset : row) width = (std::max)(width, std::to_string(offset).size());
  }
  const std::size_t cols = table.empty() ? 0 : table[0].size();
  width = (std::max)(width, std::to_string(cols).size()) + 2;
  const std::size_t label = std::to_string(table.size()).size();
  std::string text = ToString(layout) + "\n" + std::string(label + 2, ' ');
  for (std::size_t j = 0; j < cols; ++j) text += detail::PadLeft(std::to_string(j), width);
  text += "\n" + std::string(label + 2, ' ') + std::string(cols * width, '-') + "\n";
  for (std::size_t i = 0; i < table.size(); ++i) {
    text += detail::PadLeft(std::to_string(i), label) + " |";
    for (const std::int64_t offset : table[i]) {
      text += detail::PadLeft(std::to_string(offset), width);
    }
    text += "\n";
  }
  return text;
}

}  // namespace weft::layouts
