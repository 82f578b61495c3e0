// Reads files of code for a GPU, which are ELF files.
#pragma once

#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// The bytes of a variable of an ELF file, such as a cubin, as they are before the file is loaded.
// Internal if the file is no ELF file or has no such variable; InvalidArgument if the variable holds
// addresses, which nobody knows before that.
absl::StatusOr<std::string> VariableOf(std::string_view elf, std::string_view name);

}  // namespace weft::rtc
