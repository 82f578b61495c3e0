// A folder of files that are expensive to make, kept from one run of a program to the next. Threads and
// processes may use a folder at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// What is kept of a value under a key, a Digest (rtc/cache/digest.hpp): a line that says the version, the SHA-256 of both, and the
// value. ValueOf gives the value of such an entry; nothing if it is another key's, or damaged.
std::string HeadOfEntry(std::string_view key, std::string_view value);
std::optional<std::string_view> ValueOf(std::string_view key, std::string_view entry);

class Cache {
 public:
  struct Options {
    std::string folder;  // empty: weft in $XDG_CACHE_HOME, else .cache/weft in $HOME
    std::int64_t most_bytes = std::int64_t{512} << 20;  // of all files; the oldest ones go first
  };
  explicit Cache(const Options& options);

  // Empty where there is neither folder, $XDG_CACHE_HOME nor $HOME.
  const std::string& folder() const { return folder_; }

  // What was kept under `key`, a Digest (rtc/cache/digest.hpp). Nothing if there is no such entry, or it
  // is damaged: it is then removed, so that who makes it anew can keep that.
  std::optional<std::string> Read(const std::string& key) const;

  // Keeps `value`. An entry appears whole or not at all. FailedPrecondition, with the folder and the
  // system's reason, if the folder cannot be written.
  absl::Status Write(const std::string& key, std::string_view value) const;

 private:
  void RemoveOldest() const;

  std::string folder_;
  std::int64_t most_bytes_;
};

}  // namespace weft::rtc
