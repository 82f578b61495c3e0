// A folder of files that are expensive to make, kept from one run of a program to the next. Threads and
// processes may use a folder at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// A name for what is made of these parts, and of nothing else: 64 characters, the SHA-256 of them all.
std::string Digest(absl::Span<const std::string_view> parts);

class Cache {
 public:
  struct Options {
    std::string folder;  // empty: weft in $XDG_CACHE_HOME, else .cache/weft in $HOME
    std::int64_t most_bytes = std::int64_t{512} << 20;  // of all files; the oldest ones go first
  };
  explicit Cache(const Options& options);

  const std::string& folder() const { return folder_; }

  // What was kept under `key`, a Digest. Nothing if there is no such entry, or it is damaged: it is then
  // removed, so that who makes it anew can keep that.
  std::optional<std::string> Read(std::string_view key) const;

  // Keeps `value`. An entry appears whole or not at all. FailedPrecondition, with the folder and the
  // system's reason, if the folder cannot be written.
  absl::Status Write(std::string_view key, std::string_view value) const;

 private:
  void RemoveOldest() const;

  std::string folder_;
  std::int64_t most_bytes_;
};

}  // namespace weft::rtc
