// Pictures in files: binary PPM (P6) and PNG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace picture_filter {

// Larger pictures are refused, before any memory is taken for them.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 26;

// 8 bits a channel; rgb holds height x width x 3 bytes, row by row from the top left.
struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> rgb;
};

// Reads a picture; its content, not its name, says which format it is in. Grey and palette PNGs
// become RGB, 16-bit ones 8-bit; transparent parts become white. NotFound if the file cannot be
// opened; InvalidArgument if it is of another format, truncated, damaged or too large.
absl::StatusOr<Picture> ReadPicture(const std::string& path);

// OK if WritePicture knows the format that the name ends in: .ppm or, if this build has libpng,
// .png.
absl::Status CheckOutputName(const std::string& path);

// Writes the format that the name ends in. InvalidArgument as CheckOutputName; PermissionDenied if
// the file cannot be written.
absl::Status WritePicture(const std::string& path, const Picture& picture);

}  // namespace picture_filter
