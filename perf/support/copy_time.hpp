// What a copy of a layer's bytes takes: the rate of a large copy says little about the few microseconds of a
// small one, in which launch and latency count.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "perf/support/cuda.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

// A copy that reads `reads` bytes and writes `writes`, in the quickest of a few ways, as a contestant among those
// that compute something. It has buffers of its own, as many sets as BufferSets says.
class CopyTime {
 public:
  // sample_us: as Stopwatch::Prepare's target_us.
  static absl::StatusOr<CopyTime> Create(std::int64_t reads, std::int64_t writes,
                                         int multiprocessors, const Stopwatch& watch,
                                         double sample_us);

  Contestant& contestant() { return contestant_; }
  // Such as "copy of 264 blocks".
  const std::string& name() const { return name_; }

 private:
  DeviceBuffer src_, dst_;
  Contestant contestant_;
  std::string name_;
};

}  // namespace weft::perf
