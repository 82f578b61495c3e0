#include "perf/weft_perf/machine.hpp"

#if WEFT_HAVE_CUDA

#include "absl/strings/str_cat.h"
#include "perf/peers/ceiling.hpp"
#include "perf/support/device_data.hpp"

namespace weft::perf {

absl::Status Machine::Init(Environment* environment) {
  environment_ = environment;
  if (absl::Status s = CheckGpu(); !s.ok()) return s;
  if (absl::Status s = watch_.Init(); !s.ok()) return s;
  const absl::StatusOr<arch::DeviceLimits> limits = DescribeGpu(nvml_, environment);
  if (!limits.ok()) return limits.status();
  limits_ = *limits;
  const absl::StatusOr<Ceilings> ceilings = MeasureCeilings(watch_.stream());
  if (!ceilings.ok()) return ceilings.status();

  Environment& e = *environment;
  e.copy_tb_s = ceilings->bytes_per_us / 1e6;
  e.dp4a_tops = 2e-6 * ceilings->macs_per_us;
  // A restarted worker keeps what the first one measured.
  if (e.tensor_tops > 0.0) return absl::OkStatus();
  const absl::StatusOr<TensorCeiling> tensor = MeasureTensorCeiling(watch_.stream());
  e.tensor_tops = tensor.ok() ? tensor->tops : kFallbackTensorTops;
  e.tensor_source.Set(tensor.ok() ? tensor->source
                                  : absl::StrCat("a constant, what an H200 once reached: ",
                                                 std::string(tensor.status().message())));
  return absl::OkStatus();
}

Ceilings Machine::ceilings(bool dp4a) const {
  return {environment_->copy_tb_s * 1e6,
          (dp4a ? environment_->dp4a_tops : environment_->tensor_tops) * 1e6 / 2};
}

absl::Status Machine::ReadClock(const Contestant& contestant, LayerRow* row) {
  if (!contestant.graphed) return absl::OkStatus();
  for (int i = 0; i < 3; ++i) {
    if (absl::Status s = contestant.graph.Launch(watch_.stream()); !s.ok()) return s;
  }
  const GpuState state = nvml_.State();
  if (absl::Status s = CudaStatus(cudaStreamSynchronize(watch_.stream()), "clock"); !s.ok()) {
    return s;
  }
  row->clock_mhz = state.sm_clock_mhz;
  row->throttle_reasons = state.throttle_reasons;
  NoteState(state, environment_);
  return absl::OkStatus();
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
