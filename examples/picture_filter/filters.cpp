#include "examples/picture_filter/filters.hpp"

#include <numeric>

namespace picture_filter {
namespace {

using Taps = std::vector<std::int8_t>;

// The same filter for red, green and blue, none of which sees the others.
Filter EachColour(const Taps& taps, std::int64_t side, float scale) {
  Filter filter{.extents = {3, 3, side, side}, .taps = Taps(9 * side * side), .scale = scale};
  for (std::int64_t colour = 0; colour < 3; ++colour) {
    for (std::int64_t i = 0; i < side * side; ++i) {
      filter.taps[(colour * 3 + colour) * side * side + i] = taps[i];
    }
  }
  return filter;
}

// 9 x 9, close to a Gaussian of standard deviation 2.
Filter Blur() {
  constexpr std::int64_t kSide = 9;
  constexpr int kBell[kSide] = {1, 4, 7, 10, 11, 10, 7, 4, 1};
  Taps taps;
  for (int row : kBell) {
    for (int column : kBell) taps.push_back(static_cast<std::int8_t>(row * column));
  }
  const int sum = std::accumulate(taps.begin(), taps.end(), 0);
  return EachColour(taps, kSide, 1.0f / static_cast<float>(sum));
}

Filter Sharpen() {
  return EachColour({-1, -2, -1,  //
                     -2, 16, -2,  //
                     -1, -2, -1},
                    3, 1.0f / 4);
}

// Lit from the top left.
Filter Emboss() {
  return EachColour({-2, -1, 0,  //
                     -1, 1, 1,   //
                     0, 1, 2},
                    3, 1.0f);
}

// Sobel's filter in four directions, on the brightness: 2 red + 5 green + 1 blue.
Filter Edges() {
  const Taps directions[4] = {{-1, 0, 1, -2, 0, 2, -1, 0, 1},
                              {0, 1, 2, -1, 0, 1, -2, -1, 0},
                              {1, 2, 1, 0, 0, 0, -1, -2, -1},
                              {2, 1, 0, 1, 0, -1, 0, -1, -2}};
  const int brightness[3] = {2, 5, 1};
  Filter filter{.extents = {4, 3, 3, 3}, .taps = {}, .scale = 1.0f / 8, .edges = true};
  for (const Taps& direction : directions) {
    for (int weight : brightness) {
      for (int tap : direction) filter.taps.push_back(static_cast<std::int8_t>(weight * tap));
    }
  }
  return filter;
}

}  // namespace

std::optional<Filter> FilterByName(const std::string& name) {
  if (name == "blur") return Blur();
  if (name == "sharpen") return Sharpen();
  if (name == "edges") return Edges();
  if (name == "emboss") return Emboss();
  return std::nullopt;
}

}  // namespace picture_filter
