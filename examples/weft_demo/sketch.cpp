#include "examples/weft_demo/sketch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft_demo {
namespace {

constexpr std::int64_t kColours = 3, kChannels = 16, kSide = 5, kMargin = kSide / 2;
constexpr int kMiddle = 128;  // bytes 0..255 as -128..127

// Their sum is 0, so that a plain surface, and the middle, become 0.
constexpr int kLines[kSide][kSide] = {
    {0, 0, 1, 0, 0}, {0, 1, 2, 1, 0}, {1, 2, -16, 2, 1}, {0, 1, 2, 1, 0}, {0, 0, 1, 0, 0}};

Picture Rings() {
  Picture picture{240, 160, {}};
  for (std::int64_t y = 0; y < picture.height; ++y) {
    for (std::int64_t x = 0; x < picture.width; ++x) {
      const double distance = std::hypot(x - 120.0, y - 80.0);
      for (const double width : {5.0, 6.0, 7.0}) {
        picture.rgb.push_back(static_cast<std::uint8_t>(128 + 100 * std::cos(distance / width)));
      }
    }
  }
  return picture;
}

}  // namespace

Picture PictureOrRings(const std::string& path) {
  absl::StatusOr<Picture> picture = picture_filter::ReadPicture(path);
  return picture.ok() ? *std::move(picture) : Rings();
}

Layer LineLayer(const Picture& picture) {
  Layer layer;
  weft::conv::Problem& p = layer.problem;
  p.c = p.k = kChannels;  // what tensor cores multiply at a time; those beyond the colours are 0
  p.r = p.s = kSide;
  p.h = picture.height + 2 * kMargin;
  p.w = picture.width + 2 * kMargin;
  layer.src.resize(p.c * p.h * p.w);
  layer.filter.resize(p.k * p.c * kSide * kSide);
  for (std::int64_t c = 0; c < kColours; ++c) {
    for (std::int64_t h = 0; h < p.h; ++h) {
      const std::int64_t y = std::clamp<std::int64_t>(h - kMargin, 0, picture.height - 1);
      for (std::int64_t w = 0; w < p.w; ++w) {
        const std::int64_t x = std::clamp<std::int64_t>(w - kMargin, 0, picture.width - 1);
        const int byte = picture.rgb[(y * picture.width + x) * kColours + c];
        layer.src[(c * p.h + h) * p.w + w] = static_cast<std::int8_t>(byte - kMiddle);
      }
    }
    for (std::int64_t i = 0; i < kSide * kSide; ++i) {
      layer.filter[(c * p.c + c) * kSide * kSide + i] =
          static_cast<std::int8_t>(kLines[i / kSide][i % kSide]);
    }
  }
  // A step of the source is 1 / 255 of white, one of the filter 1 / 16; white and below is -128.
  layer.alpha = 1.0f / (255.0f * 16.0f);
  layer.bias.assign(p.k, 0.0f);
  layer.strength = 120.0f;
  layer.output_scale = 1.0f / 255.0f;
  layer.zero_point = -static_cast<float>(kMiddle);
  return layer;
}

Picture OnPaper(const Layer& layer, const std::vector<std::int8_t>& dst) {
  const std::int64_t height = layer.problem.p(), width = layer.problem.q();
  Picture picture{width, height, std::vector<std::uint8_t>(height * width * kColours)};
  for (std::int64_t c = 0; c < kColours; ++c) {
    for (std::int64_t i = 0; i < height * width; ++i) {
      picture.rgb[i * kColours + c] =
          static_cast<std::uint8_t>(kMiddle - 1 - dst[c * height * width + i]);
    }
  }
  return picture;
}

Picture SideBySide(const Picture& left, const Picture& right) {
  constexpr std::int64_t kGap = 8;
  const std::int64_t width = left.width + kGap + right.width;
  Picture both{width, left.height, std::vector<std::uint8_t>(width * left.height * kColours, 255)};
  for (std::int64_t y = 0; y < left.height; ++y) {
    std::uint8_t* const row = both.rgb.data() + y * width * kColours;
    std::memcpy(row, left.rgb.data() + y * left.width * kColours, left.width * kColours);
    std::memcpy(row + (left.width + kGap) * kColours, right.rgb.data() + y * right.width * kColours,
                right.width * kColours);
  }
  return both;
}

std::string InCharacters(const Picture& picture, int columns) {
  constexpr char kInk[] = "@%#*+=-:. ";  // dark to light
  constexpr int kShades = sizeof(kInk) - 1;
  columns = static_cast<int>(std::min<std::int64_t>(columns, picture.width));
  // A character is about twice as high as it is wide.
  const auto lines =
      static_cast<int>(std::max<std::int64_t>(1, picture.height * columns / (2 * picture.width)));
  std::vector<std::int64_t> means;
  for (int line = 0; line < lines; ++line) {
    for (int column = 0; column < columns; ++column) {
      std::int64_t sum = 0, count = 0;
      for (std::int64_t y = line * picture.height / lines; y < (line + 1) * picture.height / lines;
           ++y) {
        for (std::int64_t x = column * picture.width / columns;
             x < (column + 1) * picture.width / columns; ++x) {
          const std::uint8_t* const rgb = &picture.rgb[(y * picture.width + x) * kColours];
          sum += rgb[0] + rgb[1] + rgb[2];
          ++count;
        }
      }
      means.push_back(count > 0 ? sum / count : 0);
    }
  }
  const auto [darkest, lightest] = std::minmax_element(means.begin(), means.end());
  const std::int64_t range = *lightest - *darkest + 1;
  std::string text;
  for (std::size_t i = 0; i < means.size(); ++i) {
    text += kInk[(means[i] - *darkest) * kShades / range];
    if ((i + 1) % columns == 0) text += '\n';
  }
  return text;
}

}  // namespace weft_demo
