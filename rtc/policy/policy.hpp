// A policy that was compiled at run time, as the host knows it: without a type.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "weft/gemm/check/output_run.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/policy/policy_record.hpp"

namespace weft::rtc {

// A policy's image with everything that it points to. Immutable; copies share what it holds.
class Policy {
 public:
  // data: the bytes of a PolicyData. Internal if they are those of another version of Weft.
  static absl::StatusOr<Policy> FromBytes(std::string_view data);

  const conv::PolicyImage& image() const { return record().image; }
  // Everything that the compiled code says.
  const PolicyRecord& record() const;
  // What starts kernel `index` of the policy; threads is 0 if there is none.
  KernelRecord kernel(int index) const;

  // The functors that a run is given, by Part: as they are default-constructed.
  std::string_view part(Part part) const;
  // The members of functors that have names, and some names that no functor has.
  absl::Span<const ValueRecord> values() const;

  // Of an operator of several convolutions, whose last one this is: another one of them, and the bytes of what else is known of it.
  const Policy& other(int index) const;
  std::string_view fused() const;

  // How many filters a run needs (conv::FilterRun::needed). The policy does not ask the host.
  std::int64_t Filters(const prologues::BatchExtents& extents) const;
  // Writes to *run what an epilogue's stages say of themselves, as gemm::DescribeEpilogue does. The
  // policy does not ask the host. epilogue: the bytes of part kEpilogue.
  void DescribeEpilogue(const void* epilogue, gemm::OutputRun* run) const;

  // Whether `other` has the same kernels' parameters and the same functors: what one compiler makes of a
  // policy, and what another does.
  bool IsSame(const Policy& other) const;
  // Whether `other` is a copy of this one.
  bool IsCopy(const Policy& other) const { return data_ == other.data_; }

 private:
  struct Data;
  explicit Policy(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data_;
};

}  // namespace weft::rtc
