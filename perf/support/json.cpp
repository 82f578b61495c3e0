#include "perf/support/json.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace weft::perf {

std::string ResultText(const Json& environment, const Json& summary, const Json& rows) {
  std::string text = absl::StrCat("{\n\"environment\": ",
                                  environment.dump(1, ' ', false, Json::error_handler_t::replace));
  if (!summary.empty()) absl::StrAppend(&text, ",\n\"summary\": ", Line(summary));
  absl::StrAppend(&text, ",\n\"rows\": [");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", Line(rows[i]));
  }
  return text + "\n]}\n";
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, " does not exist"));
  }
  std::ostringstream text;
  std::ifstream file(path);
  if (std::filesystem::is_directory(path, error) || !file) {
    return absl::InvalidArgumentError(absl::StrCat(path, " cannot be read as a file"));
  }
  text << file.rdbuf();
  return text.str();
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (file.flush()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
}

absl::Status PrepareToWrite(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", folder.string(),
                                                   " is no folder and cannot be made one"));
  }
  const bool existed = fs::exists(path, error);
  if (!std::ofstream(path, std::ios::app)) {
    return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
  }
  if (!existed) fs::remove(path, error);
  return absl::OkStatus();
}

std::string Today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return text;
}

}  // namespace weft::perf
