// Pictures of layouts, as SVG text, on the host.
//
//   std::ofstream("layout.svg") << ToSvg(layout);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/layouts/print.hpp"

namespace weft::layouts {

struct SvgOptions {
  // Written above the grid; the layout itself if empty.
  std::string title = {};
  // Side of a cell in pixels.
  int cell = 40;
  // 0: colours run from the smallest to the largest offset. Otherwise offsets that are equal modulo
  // this number share a colour: 32 for the banks of shared memory, with 4-byte elements.
  int color_period = 0;
};

namespace detail {

struct Color {
  double r, g, b;  // 0 to 1
};

// Hue in turns, saturation and lightness from 0 to 1.
inline Color FromHsl(double hue, double saturation, double lightness) {
  const double chroma = (1 - std::abs(2 * lightness - 1)) * saturation;
  const auto channel = [&](double shift) {
    double h = hue + shift;
    h -= std::floor(h);
    const double level = std::clamp(std::abs(6 * h - 3) - 1, 0.0, 1.0);
    return lightness + chroma * (level - 0.5);
  };
  return {channel(0), channel(-1.0 / 3), channel(1.0 / 3)};
}

inline std::string Hex(const Color& c) {
  const char* digits = "0123456789abcdef";
  std::string text = "#";
  for (const double x : {c.r, c.g, c.b}) {
    const int byte = static_cast<int>(std::lround(std::clamp(x, 0.0, 1.0) * 255));
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

// A light-to-dark ramp, yellow over green to blue. `place` from 0 to 1.
inline Color RampColor(double place) {
  return FromHsl(0.14 + 0.50 * place, 0.70, 0.86 - 0.42 * place);
}

// Colour `i` of `count` that are to be told apart: hues around the circle, and two lightnesses by
// turns where there are many.
inline Color DistinctColor(std::int64_t i, std::int64_t count) {
  const double lightness = count > 8 && i % 2 == 1 ? 0.68 : 0.84;
  return FromHsl(static_cast<double>(i) / static_cast<double>((std::max<std::int64_t>)(count, 1)),
                 0.70, lightness);
}

inline const char* TextColor(const Color& background) {
  const double luminance = 0.299 * background.r + 0.587 * background.g + 0.114 * background.b;
  return luminance > 0.5 ? "#111111" : "#ffffff";
}

inline std::string EscapeXml(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// A grid of cells with numbered rows and columns and a title.
class SvgGrid {
 public:
  SvgGrid(std::int64_t rows, std::int64_t cols, int cell, const std::string& title)
      : cell_(cell), left_(cell), top_(cell + 36) {
    // The title's letters are about 8 pixels wide.
    const std::int64_t title_width = static_cast<std::int64_t>(title.size()) * 8 + 24;
    const std::int64_t width = (std::max<std::int64_t>)(left_ + cols * cell + 12, title_width);
    const std::int64_t height = top_ + rows * cell + 12;
    body_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) +
            "\" height=\"" + std::to_string(height) +
            "\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    body_ += "<text x=\"12\" y=\"24\" font-size=\"13\" fill=\"#111111\">" + EscapeXml(title) +
             "</text>\n";
    for (std::int64_t i = 0; i < rows; ++i) {
      Text(left_ - cell_ / 2, CenterY(i), std::to_string(i), cell_ / 3, "#777777");
    }
    for (std::int64_t j = 0; j < cols; ++j) {
      Text(CenterX(j), top_ - cell_ / 2, std::to_string(j), cell_ / 3, "#777777");
    }
  }

  // A cell with one or more lines of text.
  void Cell(std::int64_t i, std::int64_t j, const Color& color,
            const std::vector<std::string>& lines) {
    body_ += "<rect x=\"" + std::to_string(left_ + j * cell_) + "\" y=\"" +
             std::to_string(top_ + i * cell_) + "\" width=\"" + std::to_string(cell_) +
             "\" height=\"" + std::to_string(cell_) + "\" fill=\"" + Hex(color) +
             "\" stroke=\"#555555\" stroke-width=\"1\"/>\n";
    std::size_t longest = 1;
    for (const std::string& line : lines) longest = (std::max)(longest, line.size());
    // A letter is about 0.6 of its size wide; leave a margin.
    const double fits_width = (cell_ - 6) / (0.62 * static_cast<double>(longest));
    const double fits_height =
        lines.size() > 1 ? 0.72 * cell_ / static_cast<double>(lines.size()) : cell_ / 2.0 - 2;
    const int size = (std::max)(6, static_cast<int>((std::min)(fits_width, fits_height)));
    const double step = size * 1.15;
    const double first = -step * (static_cast<double>(lines.size()) - 1) / 2;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      Text(CenterX(j), CenterY(i) + first + step * static_cast<double>(k), lines[k], size,
           TextColor(color));
    }
  }

  std::string Finish() { return body_ + "</svg>\n"; }

 private:
  double CenterX(std::int64_t j) const {
    return static_cast<double>(left_ + j * cell_) + cell_ / 2.0;
  }
  double CenterY(std::int64_t i) const {
    return static_cast<double>(top_ + i * cell_) + cell_ / 2.0;
  }

  // Centred at (x, y). Lowered by a third of the size: not every viewer centres text vertically.
  void Text(double x, double y, const std::string& text, int size, const char* color) {
    body_ += "<text x=\"" + std::to_string(static_cast<std::int64_t>(std::lround(x))) + "\" y=\"" +
             std::to_string(static_cast<std::int64_t>(std::lround(y + size * 0.35))) +
             "\" font-size=\"" + std::to_string(size) + "\" text-anchor=\"middle\" fill=\"" +
             color + "\">" + EscapeXml(text) + "</text>\n";
  }

  std::int64_t cell_;
  std::int64_t left_;
  std::int64_t top_;
  std::string body_;
};

}  // namespace detail

// The offsets of a layout in a grid coloured by offset: mode 0 down, all other modes across.
template <class LayoutT>
  requires IsLayout<LayoutT> || IsComposedLayout<LayoutT>
inline std::string ToSvg(const LayoutT& layout, const SvgOptions& options = {}) {
  const auto table = detail::OffsetTable(layout);
  const std::int64_t rows = static_cast<std::int64_t>(table.size());
  const std::int64_t cols = table.empty() ? 0 : static_cast<std::int64_t>(table[0].size());
  detail::SvgGrid grid(rows, cols, options.cell,
                       options.title.empty() ? ToString(layout) : options.title);
  std::int64_t low = 0, high = 0;
  for (const auto& row : table) {
    for (const std::int64_t offset : row) {
      low = (std::min)(low, offset);
      high = (std::max)(high, offset);
    }
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const std::int64_t offset = table[i][j];
      const auto color =
          options.color_period > 0
              ? detail::DistinctColor(offset % options.color_period, options.color_period)
              : detail::RampColor(high == low ? 0.0
                                              : static_cast<double>(offset - low) /
                                                    static_cast<double>(high - low));
      grid.Cell(i, j, color, {std::to_string(offset)});
    }
  }
  return grid.Finish();
}

// Which thread holds which element of a tile as which of its values, coloured by thread. tv sends
// (thread, value) to a linear index of the tile; tile_shape is (rows, columns), each possibly
// nested. An element that nobody holds is white; one that several hold shows the first and how many
// more.
template <IsLayout Tv, IsTuple TileShape>
inline std::string ThreadValueSvg(const Tv& tv, const TileShape& tile_shape,
                                  const SvgOptions& options = {}) {
  static_assert(
      kRank<Tv> == 2 && kRank<TileShape> == 2,
      "layouts: ThreadValueSvg(tv, tile_shape): tv has two modes, threads and values, and "
      "the tile two, rows and columns");
  const std::int64_t rows = Size<0>(tile_shape), cols = Size<1>(tile_shape);
  const std::int64_t threads = Size<0>(tv), values = Size<1>(tv);
  struct Holder {
    std::int64_t thread = 0, value = 0, holders = 0;
  };
  std::vector<Holder> holders(rows * cols);
  for (std::int64_t t = 0; t < threads; ++t) {
    for (std::int64_t v = 0; v < values; ++v) {
      const std::int64_t index = tv(t, v);
      if (index < 0 || index >= rows * cols) continue;
      Holder& holder = holders[index];
      if (holder.holders++ == 0) holder = {t, v, 1};
    }
  }
  detail::SvgGrid grid(
      rows, cols, options.cell,
      options.title.empty() ? ToString(tv) + " on " + ToString(tile_shape) : options.title);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const Holder& holder = holders[i + j * rows];
      if (holder.holders == 0) {
        grid.Cell(i, j, {1, 1, 1}, {});
        continue;
      }
      std::vector<std::string> lines = {"T" + std::to_string(holder.thread),
                                        "V" + std::to_string(holder.value)};
      if (holder.holders > 1) lines.push_back("+" + std::to_string(holder.holders - 1));
      grid.Cell(i, j, detail::DistinctColor(holder.thread, threads), lines);
    }
  }
  return grid.Finish();
}

}  // namespace weft::layouts
