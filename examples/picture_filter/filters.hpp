// What a picture is convolved with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weft/layouts/formats.hpp"

namespace picture_filter {

inline constexpr char kFilterNames[] = "blur, sharpen, edges, emboss";

// A bank of int8 filters over RGB. Result: scale * sum(taps * byte) + offset.
struct Filter {
  weft::FilterExtents extents;    // c = 3, r = s odd; k = 3 (colours) or 4 (edge directions)
  std::vector<std::int8_t> taps;  // KCRS
  float scale = 1.0f;
  float offset = 0.0f;
  bool edges = false;  // take magnitudes; the picture is grey, the strongest of the k results

  std::int64_t margin() const { return extents.r / 2; }  // rows and columns beyond the picture
};

// nullopt: no such name.
std::optional<Filter> FilterByName(const std::string& name);

}  // namespace picture_filter
