// The headers that rtc/gpu/program.hpp includes, as text in the library: a program needs no folder of
// headers to compile for a GPU.
#pragma once

#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

struct Header {
  const char* path = "";  // as in an #include
  std::string_view text;
};

// cmake/rtc_headers.cmake writes the source that has them.
absl::Span<const Header> Headers();

// The Digest of all of them.
const std::string& HeadersDigest();

}  // namespace weft::rtc
