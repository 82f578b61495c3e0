#include "perf/support/gpu_info.hpp"

#if WEFT_HAVE_CUDA

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"

namespace weft::perf {

absl::StatusOr<arch::DeviceLimits> DescribeGpu(const Nvml& nvml, Environment* environment) {
  const arch::DeviceQuery query = arch::QueryDevice();
  if (!query.result.ok()) return absl::UnavailableError(query.result.message);
  Environment& e = *environment;
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) e.device.Set(properties.name);
  e.multiprocessors = query.limits.sm_count;
  e.l2_mb = static_cast<double>(query.limits.l2_bytes) / (1 << 20);
  e.driver.Set(nvml.DriverVersion());
  int runtime = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  e.cuda.Set(absl::StrCat(runtime / 1000, ".", runtime % 1000 / 10));
  e.max_clock_mhz = nvml.State().max_sm_clock_mhz;
  return query.limits;
}

void NoteState(const GpuState& state, Environment* environment) {
  Environment& e = *environment;
  if (e.first_clock_mhz == 0.0) e.first_clock_mhz = state.sm_clock_mhz;
  e.last_clock_mhz = state.sm_clock_mhz;
  e.watts = state.watts;
  e.celsius = state.celsius;
  e.throttle_reasons |= state.throttle_reasons;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
