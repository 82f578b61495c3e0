// SHA-256, which names and guards the files of a Cache.
#pragma once

#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// The SHA-256 of these parts and of their lengths, as 64 hexadecimal digits: other parts have another
// one, also where their texts, one behind the other, are the same.
std::string Digest(absl::Span<const std::string_view> parts);

// The SHA-256 of these bytes, as 64 hexadecimal digits.
std::string Sha256(std::string_view bytes);

}  // namespace weft::rtc
