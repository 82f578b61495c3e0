// The files of perf/layers/ as strings; CMake writes the .cpp.
#pragma once

#include <vector>

namespace weft::perf::internal {

struct LayerText {
  const char* name;  // the file's, without .txt
  const char* text;
};

std::vector<LayerText> LayerTexts();

}  // namespace weft::perf::internal
