// The GPU that a run is made on: its data, its ceilings, its clock.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "perf/support/floor.hpp"
#include "perf/support/json.hpp"
#include "perf/support/stopwatch.hpp"
#include "weft/gemm/arch/device.hpp"

namespace weft::perf {

class Machine {
 public:
  // Describes the GPU, and measures its ceilings unless nobody asks. `environment`, if it is not
  // empty, is what an earlier process found, and stays. Unavailable if there is no GPU;
  // FailedPrecondition if `environment` is of another GPU or driver than this one.
  absl::Status Init(const Json& environment, bool want_ceilings);

  const Stopwatch& watch() const { return watch_; }
  cudaStream_t stream() const { return watch_.stream(); }
  const arch::DeviceLimits& limits() const { return limits_; }
  // Of dp4a, or of the tensor cores; infinite if they were not measured.
  Ceilings ceilings(bool dp4a) const;

  // Name, versions, ceilings and libraries; clocks, power and throttling as they were last read.
  Json environment() const;

  // Reads clock and throttling while `contestant` keeps the GPU busy, into the environment, and
  // their values into `row`.
  absl::Status ReadClock(const Contestant& contestant, Json* row);

  // Runs `contestant` for about half a second; its watts by NVML's counter of energy, and the joules of a
  // run, to row["<name>_watts"] and row["<name>_joules"]. Nothing where there is no such counter.
  absl::Status ReadEnergy(const Contestant& contestant, const std::string& name, Json* row);

 private:
  Json environment_;
  Stopwatch watch_;
  void* nvml_ = nullptr;  // the driver's management library, if it is there
  void* device_ = nullptr;
  arch::DeviceLimits limits_;
};

}  // namespace weft::perf
