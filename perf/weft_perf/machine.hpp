// The GPU that a run is made on: its data, its ceilings, its clock. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include "absl/status/status.h"
#include "perf/support/floor.hpp"
#include "perf/support/gpu_info.hpp"
#include "perf/support/layer_rows.hpp"
#include "perf/support/stopwatch.hpp"

namespace weft::perf {

class Machine {
 public:
  // Fills `environment`, which it goes on to use. Unavailable if there is no GPU.
  absl::Status Init(Environment* environment);

  const Stopwatch& watch() const { return watch_; }
  const arch::DeviceLimits& limits() const { return limits_; }
  // Of dp4a, or of the tensor cores.
  Ceilings ceilings(bool dp4a) const;

  // The clock and what holds it back while `contestant` keeps the GPU busy, into the row and the
  // environment.
  absl::Status ReadClock(const Contestant& contestant, LayerRow* row);

 private:
  Environment* environment_ = nullptr;
  Stopwatch watch_;
  Nvml nvml_;
  arch::DeviceLimits limits_;
};

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
