// A picture as a layer, and back.
#pragma once

#include <string>
#include <vector>

#include "examples/picture_filter/picture_io.hpp"
#include "examples/weft_demo/layer.hpp"

namespace weft_demo {

using picture_filter::Picture;

// The picture in `path`, or, where that cannot be read, rings.
Picture PictureOrRings(const std::string& path);

// Red, green and blue, each through a 5x5 filter that answers to lines darker than what is around
// them. The layer's output has the picture's extents; beyond its border the picture goes on as at
// its border.
Layer LineLayer(const Picture& picture);

// Its first three channels as lines on white paper.
Picture OnPaper(const Layer& layer, const std::vector<std::int8_t>& dst);

Picture SideBySide(const Picture& left, const Picture& right);

// The picture in lines of `columns` characters, from the darkest part to the lightest.
std::string InCharacters(const Picture& picture, int columns);

}  // namespace weft_demo
