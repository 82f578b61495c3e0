// The run-time values of a policy's functors, by the names of members.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/policy/policy.hpp"

namespace weft::rtc {

// An Operator makes them; they are for runs of that operator, and of its copies.
class Values {
 public:
  // Functors as they are default-constructed.
  explicit Values(Policy policy);

  std::vector<std::string> names() const;

  // Sets a number, converted to the member's type. InvalidArgument if no functor, or more than one,
  // has a member of that name, or if it is no number; OutOfRange if its type cannot hold it.
  absl::Status Set(std::string_view name, double value);
  // Sets an address: of GPU memory for Run, of host memory for RunOnCpu.
  absl::Status SetAddress(std::string_view name, const void* address);
  // The number that a run would use.
  absl::StatusOr<double> Get(std::string_view name) const;

  // The functors' bytes.
  const void* bytes(Part part) const { return parts_[static_cast<int>(part)].data(); }

 private:
  absl::StatusOr<const ValueRecord*> Find(std::string_view name) const;
  unsigned char* At(const ValueRecord& value);

  Policy policy_;
  std::vector<std::max_align_t> parts_[kParts];
};

}  // namespace weft::rtc
