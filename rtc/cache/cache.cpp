#include "weft/rtc/cache/cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "weft/rtc/cache/digest.hpp"

namespace weft::rtc {
namespace {

namespace fs = std::filesystem;

// An entry is a file KEY.weft.
constexpr std::string_view kFirstLine = "weft cache 1\n";
constexpr std::size_t kDigestSize = 64;
constexpr char kEnding[] = ".weft", kTemporary[] = ".part";

std::string DefaultFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return absl::StrCat(cache, "/weft");
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == 0 ? "" : absl::StrCat(home, "/.cache/weft");
}

std::string Guard(std::string_view key, std::string_view value) {
  const std::string_view parts[] = {key, value};
  return Digest(parts);
}

absl::Status Unwritable(const std::string& folder, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat("rtc: cache folder ",
                   folder.empty() ? "(none: neither XDG_CACHE_HOME nor HOME is set)" : folder,
                   " cannot be written: ", std::strerror(error),
                   "; compiled operators are not kept; name a folder that can be written"));
}

// All that a file has; nothing if it cannot be read to its end.
std::optional<std::string> ReadAll(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  char buffer[1 << 16];
  ssize_t got = 0;
  do {
    got = read(file, buffer, sizeof buffer);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  } while (got > 0 || (got < 0 && errno == EINTR));
  close(file);
  return got == 0 ? std::optional(text) : std::nullopt;
}

// Whether a file's name is one that Write gives: a Digest, and behind it `ending`, before which a temporary file has `middle`
// more characters.
bool IsOurs(const std::string& name, std::string_view ending, std::size_t middle) {
  const std::size_t size = kDigestSize + middle + ending.size();
  if (name.size() != size || name.substr(size - ending.size()) != ending) return false;
  return std::all_of(name.begin(), name.begin() + kDigestSize, [](unsigned char c) {
    return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
  });
}

// Writes all of `text`. 0, or the system's error.
int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

std::string HeadOfEntry(std::string_view key, std::string_view value) {
  return absl::StrCat(std::string(kFirstLine), Guard(key, value));
}

std::optional<std::string_view> ValueOf(std::string_view key, std::string_view entry) {
  const std::size_t start = kFirstLine.size() + kDigestSize;
  if (entry.size() < start || entry.substr(0, kFirstLine.size()) != kFirstLine) return std::nullopt;
  const std::string_view value = entry.substr(start);
  if (entry.substr(kFirstLine.size(), kDigestSize) != Guard(key, value)) return std::nullopt;
  return value;
}

Cache::Cache(const Options& options)
    : folder_(options.folder.empty() ? DefaultFolder() : options.folder),
      most_bytes_(options.most_bytes) {}

std::optional<std::string> Cache::Read(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = absl::StrCat(folder_, "/", key, kEnding);
  const std::optional<std::string> text = ReadAll(path);
  if (!text.has_value()) return std::nullopt;
  if (const std::optional<std::string_view> value = ValueOf(key, *text)) {
    // The oldest are those that nobody has read for longest.
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
    return std::string(*value);
  }
  unlink(path.c_str());
  return std::nullopt;
}

absl::Status Cache::Write(const std::string& key, std::string_view value) const {
  if (folder_.empty()) return Unwritable(folder_, ENOENT);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return Unwritable(folder_, error.value());
  std::string path = absl::StrCat(folder_, "/", key, ".XXXXXX", kTemporary);
  const int file = mkstemps(path.data(), static_cast<int>(sizeof(kTemporary) - 1));
  if (file < 0) return Unwritable(folder_, errno);
  int failed = WriteAll(file, HeadOfEntry(key, value));
  if (failed == 0) failed = WriteAll(file, value);
  if (close(file) != 0 && failed == 0) failed = errno;
  if (failed == 0 && rename(path.c_str(), absl::StrCat(folder_, "/", key, kEnding).c_str()) != 0) {
    failed = errno;
  }
  if (failed != 0) {
    unlink(path.c_str());
    return Unwritable(folder_, failed);
  }
  RemoveOldest();
  return absl::OkStatus();
}

void Cache::RemoveOldest() const {
  struct Entry {
    fs::file_time_type time;
    std::int64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::int64_t bytes = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  fs::directory_iterator at(folder_, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const fs::directory_entry& found = *at;
    const std::string name = found.path().filename().string();
    const bool is_entry = IsOurs(name, kEnding, 0);
    const bool is_part = IsOurs(name, kTemporary, sizeof(".XXXXXX") - 1);
    if (!is_entry && !is_part) continue;  // not ours
    std::error_code gone;                 // somebody has just removed it
    const auto time = found.last_write_time(gone);
    if (gone) continue;
    const auto size = static_cast<std::int64_t>(found.file_size(gone));
    if (gone) continue;
    if (is_part) {  // of a process that ended before it was done
      if (now - time > std::chrono::hours(1)) fs::remove(found.path(), gone);
      continue;
    }
    bytes += size;
    entries.push_back({time, size, found.path()});
  }
  if (bytes <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_) break;
    fs::remove(entry.path, error);
    if (!error) bytes -= entry.bytes;  // whoever removed it
  }
}

}  // namespace weft::rtc
