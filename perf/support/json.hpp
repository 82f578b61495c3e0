// JSON values, and the files that programs of this folder read and write.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::perf {

using Json = nlohmann::ordered_json;

// `value` with at most `digits` after the decimal point; null if it is not finite.
inline Json Rounded(double value, int digits = 3) {
  if (!std::isfinite(value)) return nullptr;
  const double power = std::pow(10.0, digits), rounded = std::round(value * power) / power;
  if (rounded == std::round(rounded) && std::abs(rounded) < 1e15) {
    return static_cast<std::int64_t>(rounded);
  }
  return rounded;
}

// One line. Bytes that are not UTF-8, which libraries may give, are replaced.
inline std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A result file: {"environment": ..., "summary": ..., "rows": [...]}, one line a row.
std::string ResultText(const Json& environment, const Json& summary, const Json& rows);

// The whole file. NotFound if there is none, InvalidArgument if it is no file that can be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// PermissionDenied names the path.
absl::Status WriteFile(const std::string& path, const std::string& text);
// Makes the folder of a file that a program will write at its end, and finds out whether it may: an error now
// costs no measurement. It leaves an existing file as it is, and makes none.
absl::Status PrepareToWrite(const std::string& path);

// "2026-11-21 06:27 UTC".
std::string Today();

}  // namespace weft::perf
