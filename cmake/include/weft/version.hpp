// The version of Weft; CMake reads it from here.
#pragma once

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

namespace weft {

inline constexpr int kVersionMajor = WEFT_VERSION_MAJOR;
inline constexpr int kVersionMinor = WEFT_VERSION_MINOR;
inline constexpr int kVersionPatch = WEFT_VERSION_PATCH;

}  // namespace weft
