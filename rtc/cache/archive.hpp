// Compiled code in memory, by key: what a file that has compiled code brings along, so that a program needs no compiler.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache/cache.hpp"

namespace weft::rtc {

// A key is a Digest of what was compiled: the text, Weft's headers, flags and the architecture. Other than a Cache's it does not
// name the compiler, since whoever has the code needs none. Thread-safe.
class Archive {
 public:
  // base: another archive, which is looked into as well. What is found there is then in this one, too, so that this one has at the end
  // what was needed.
  explicit Archive(std::shared_ptr<const Archive> base = nullptr) : base_(std::move(base)) {}
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  std::optional<std::string> Find(const std::string& key);
  void Add(const std::string& key, std::string value);
  bool IsEmpty() const;

  // All that it has itself, by key: of each the key, the bytes of its entry as an unsigned integer of 64 bits, and the entry
  // as a Cache keeps it. FromBytes: InvalidArgument if bytes are cut off or damaged.
  std::string Bytes() const;
  static absl::StatusOr<std::shared_ptr<const Archive>> FromBytes(std::string_view bytes);

  // Adds what another one has itself.
  void AddAll(const Archive& other);

 private:
  std::optional<std::string> Get(const std::string& key) const;

  const std::shared_ptr<const Archive> base_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

// Where compiled code is looked for and kept: in an archive first, then in a cache. Either may be null.
struct Kept {
  Kept(const Cache* in = nullptr, Archive* also = nullptr) : cache(in), archive(also) {}

  const Cache* cache;
  Archive* archive;
};

}  // namespace weft::rtc
