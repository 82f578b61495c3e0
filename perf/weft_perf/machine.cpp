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
  const arch::DeviceQuery query = arch::QueryDevice();
  if (!query.result.ok()) return absl::UnavailableError(query.result.message);
  limits_ = query.limits;
  const absl::StatusOr<Ceilings> ceilings = MeasureCeilings(watch_.stream());
  if (!ceilings.ok()) return ceilings.status();
  const GpuState state = nvml_.State();

  Environment& e = *environment;
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) e.device.Set(properties.name);
  e.multiprocessors = limits_.sm_count;
  e.l2_mb = static_cast<double>(limits_.l2_bytes) / (1 << 20);
  e.driver.Set(nvml_.DriverVersion());
  int runtime = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  e.cuda.Set(absl::StrCat(runtime / 1000, ".", runtime % 1000 / 10));
  e.copy_tb_s = ceilings->bytes_per_us / 1e6;
  e.dp4a_tops = 2e-6 * ceilings->macs_per_us;
  e.max_clock_mhz = state.max_sm_clock_mhz;
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
  Environment& e = *environment_;
  if (e.first_clock_mhz == 0.0) e.first_clock_mhz = state.sm_clock_mhz;
  e.last_clock_mhz = state.sm_clock_mhz;
  e.watts = state.watts;
  e.celsius = state.celsius;
  e.throttle_reasons |= state.throttle_reasons;
  return absl::OkStatus();
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
