#include "examples/picture_filter/picture_io.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#if WEFT_HAVE_PNG
#include <png.h>
#endif

namespace picture_filter {
namespace {

constexpr char kPngSignature[] = "\x89PNG\r\n\x1a\n";
constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;

#if WEFT_HAVE_PNG
constexpr char kAccepted[] = "binary PPM (P6) or PNG";
constexpr char kAcceptedNames[] = ".ppm or .png";
#else
constexpr char kAccepted[] = "binary PPM (P6; this build has no libpng)";
constexpr char kAcceptedNames[] = ".ppm (this build has no libpng)";
#endif

absl::Status Refuse(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
}

absl::Status CheckExtents(const std::string& path, std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width > kMaxPixels || height > kMaxPixels / width) {
    return Refuse(path, absl::StrCat("is ", width, " x ", height, " pixels; accepted are 1 to ",
                                     kMaxPixels, " pixels in all"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    return Refuse(path, absl::StrCat("is a folder; give a file, ", kAccepted));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be opened (", std::strerror(errno),
                                            "); give a readable file, ", kAccepted));
  }
  std::string bytes;
  char block[1 << 16];
  while (file.read(block, sizeof(block)) || file.gcount() > 0) {
    bytes.append(block, file.gcount());
    if (static_cast<std::int64_t>(bytes.size()) > kMaxFileBytes) {
      return Refuse(
          path, absl::StrCat("is larger than ", kMaxFileBytes, " bytes; give a smaller picture"));
    }
  }
  if (file.bad()) return Refuse(path, "reading failed half way; give a readable file");
  return bytes;
}

// The next number of a PPM header, after white space and comments.
std::optional<std::int64_t> HeaderNumber(absl::string_view bytes, std::size_t* at) {
  const auto byte = [&] { return static_cast<unsigned char>(bytes[*at]); };
  for (; *at < bytes.size() && (std::isspace(byte()) || byte() == '#'); ++*at) {
    if (byte() == '#') {
      while (*at + 1 < bytes.size() && byte() != '\n') ++*at;
    }
  }
  std::int64_t value = 0;
  int digits = 0;
  for (; *at < bytes.size() && std::isdigit(byte()); ++*at, ++digits) {
    value = std::min<std::int64_t>(value * 10 + (byte() - '0'), 1'000'000'000'000);
  }
  if (digits == 0) return std::nullopt;
  return value;
}

absl::StatusOr<Picture> DecodePpm(const std::string& path, const std::string& bytes) {
  const auto is_space = [&](std::size_t i) {
    return i < bytes.size() && std::isspace(static_cast<unsigned char>(bytes[i]));
  };
  std::size_t at = 2;
  const bool magic_ends = is_space(at) || (at < bytes.size() && bytes[at] == '#');  // P61 is not P6
  const auto width = HeaderNumber(bytes, &at);
  const auto height = HeaderNumber(bytes, &at);
  const auto maximum = HeaderNumber(bytes, &at);
  if (!magic_ends || !maximum || !is_space(at)) {
    return Refuse(path,
                  "has a damaged or truncated PPM header; it must be: P6 WIDTH HEIGHT MAXIMUM");
  }
  ++at;  // one white space, then the pixels
  if (absl::Status s = CheckExtents(path, *width, *height); !s.ok()) return s;
  if (*maximum < 1 || *maximum > 255) {
    return Refuse(path, absl::StrCat("has the PPM maximum ", *maximum,
                                     "; accepted are 1 to 255, one byte a channel"));
  }
  const std::size_t want = *width * *height * 3;
  if (bytes.size() - at < want) {
    return Refuse(path, absl::StrCat("is truncated: ", *width, " x ", *height, " pixels are ", want,
                                     " bytes, ", bytes.size() - at,
                                     " follow its header; give the "
                                     "whole file"));
  }
  Picture picture{*width, *height, std::vector<std::uint8_t>(want)};
  for (std::size_t i = 0; i < want; ++i) {
    const std::int64_t value = static_cast<unsigned char>(bytes[at + i]);
    if (value > *maximum) {
      return Refuse(path,
                    absl::StrCat("holds the value ", value, ", above its maximum ", *maximum));
    }
    picture.rgb[i] = static_cast<std::uint8_t>((value * 255 + *maximum / 2) / *maximum);
  }
  return picture;
}

#if WEFT_HAVE_PNG
absl::StatusOr<Picture> DecodePng(const std::string& path, const std::string& bytes) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) {
    return Refuse(path, absl::StrCat("is a damaged or truncated PNG (libpng: ", image.message,
                                     "); give the whole file"));
  }
  if (absl::Status s = CheckExtents(path, image.width, image.height); !s.ok()) {
    png_image_free(&image);
    return s;
  }
  image.format = PNG_FORMAT_RGB;
  Picture picture{image.width, image.height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(image))};
  const png_color white = {255, 255, 255};
  if (!png_image_finish_read(&image, &white, picture.rgb.data(), 0, nullptr)) {
    return Refuse(path, absl::StrCat("is a damaged or truncated PNG (libpng: ", image.message,
                                     "); give the whole file"));
  }
  return picture;
}
#endif

}  // namespace

absl::StatusOr<Picture> ReadPicture(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadBytes(path);
  if (!bytes.ok()) return bytes.status();
  if (absl::StartsWith(*bytes, "P6")) return DecodePpm(path, *bytes);
#if WEFT_HAVE_PNG
  if (absl::StartsWith(*bytes, kPngSignature)) return DecodePng(path, *bytes);
#else
  if (absl::StartsWith(*bytes, kPngSignature)) {
    return Refuse(path, absl::StrCat("is a PNG; accepted is ", kAccepted));
  }
#endif
  return Refuse(path, absl::StrCat(bytes->empty() ? "is empty" : "is of no known format",
                                   "; accepted is ", kAccepted));
}

absl::Status CheckOutputName(const std::string& path) {
#if WEFT_HAVE_PNG
  if (absl::EndsWithIgnoreCase(path, ".png")) return absl::OkStatus();
#endif
  if (absl::EndsWithIgnoreCase(path, ".ppm")) return absl::OkStatus();
  return Refuse(path, absl::StrCat("the output's name must end in ", kAcceptedNames));
}

absl::Status WritePicture(const std::string& path, const Picture& picture) {
  if (absl::Status s = CheckOutputName(path); !s.ok()) return s;
#if WEFT_HAVE_PNG
  if (absl::EndsWithIgnoreCase(path, ".png")) {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = PNG_FORMAT_RGB;
    if (!png_image_write_to_file(&image, path.c_str(), 0, picture.rgb.data(), 0, nullptr)) {
      return absl::PermissionDeniedError(
          absl::StrCat(path, ": cannot be written (libpng: ", image.message,
                       "); name a file in a writable folder"));
    }
    return absl::OkStatus();
  }
#endif
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << picture.width << " " << picture.height << "\n255\n";
  file.write(reinterpret_cast<const char*>(picture.rgb.data()),
             static_cast<std::streamsize>(picture.rgb.size()));
  file.close();
  if (!file) {
    return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be written (",
                                                    std::strerror(errno),
                                                    "); name a file in a writable folder"));
  }
  return absl::OkStatus();
}

}  // namespace picture_filter
