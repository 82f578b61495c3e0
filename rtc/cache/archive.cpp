#include "weft/rtc/cache/archive.hpp"

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace weft::rtc {
namespace {

constexpr std::size_t kKeySize = 64, kNumberSize = sizeof(std::uint64_t);

}  // namespace

std::optional<std::string> Archive::Get(const std::string& key) const {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto at = values_.find(key); at != values_.end()) return at->second;
  }
  return base_ == nullptr ? std::nullopt : base_->Get(key);
}

std::optional<std::string> Archive::Find(const std::string& key) {
  std::optional<std::string> found = Get(key);
  if (found.has_value() && base_ != nullptr) Add(key, *found);
  return found;
}

void Archive::Add(const std::string& key, std::string value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  values_.insert_or_assign(key, std::move(value));
}

void Archive::AddAll(const Archive& other) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  values_.insert(other.values_.begin(), other.values_.end());
}

bool Archive::IsEmpty() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return values_.empty();
}

std::string Archive::Bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string bytes;
  for (const auto& [key, value] : values_) {
    const std::string head = HeadOfEntry(key, value);
    const std::uint64_t size = head.size() + value.size();
    bytes.append(key);
    bytes.append(reinterpret_cast<const char*>(&size), kNumberSize);
    bytes.append(head).append(value);
  }
  return bytes;
}

absl::StatusOr<std::shared_ptr<const Archive>> Archive::FromBytes(std::string_view bytes) {
  auto archive = std::make_shared<Archive>();
  const auto damaged = [&](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("rtc: entry ", archive->values_.size(),
                                                   " of the compiled code ", std::string(why),
                                                   "; make the file anew"));
  };
  while (!bytes.empty()) {
    if (bytes.size() < kKeySize + kNumberSize) return damaged("is cut off");
    const std::string key(bytes.substr(0, kKeySize));
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + kKeySize, kNumberSize);
    bytes.remove_prefix(kKeySize + kNumberSize);
    if (size > bytes.size()) return damaged("is cut off");
    const std::optional<std::string_view> value = ValueOf(key, bytes.substr(0, size));
    if (!value.has_value()) return damaged("is damaged");
    archive->values_.emplace(key, *value);
    bytes.remove_prefix(size);
  }
  return std::shared_ptr<const Archive>(std::move(archive));
}

}  // namespace weft::rtc
