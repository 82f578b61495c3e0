// The image of a policy that was compiled at run time, with everything that it points to.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/gpu/policy_record.hpp"

namespace weft::rtc {

// Immutable; copies share what it holds.
class OwnedImage {
 public:
  // data: the bytes of a PolicyData. Internal if they are those of another version of Weft.
  static absl::StatusOr<OwnedImage> FromBytes(std::string_view data);

  const conv::PolicyImage& image() const { return record().image; }
  // Everything that the compiled code says.
  const PolicyRecord& record() const;
  // What starts kernel `index` of the policy; threads is 0 if there is none.
  KernelRecord kernel(int index) const;

 private:
  struct Data;
  explicit OwnedImage(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data_;
};

// The bytes of a variable of an ELF file, such as a cubin, as they are before the file is loaded.
// Internal if the file is no ELF file or has no such variable.
absl::StatusOr<std::string> VariableOf(std::string_view elf, std::string_view name);

}  // namespace weft::rtc
