// Weft's headers, as text in the library: a program needs no folder of headers to compile an operator.
#pragma once

#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

struct Header {
  const char* path = "";  // as in an #include
  std::string_view text;
};

// cmake/rtc_headers.cmake writes the source that has both: all headers that what rtc compiles may
// include, and one SHA-256 of them all.
absl::Span<const Header> Headers();
std::string_view HeadersDigest();

}  // namespace weft::rtc
