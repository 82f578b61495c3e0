#include "perf/support/nvml.hpp"

#include <dlfcn.h>

namespace weft::perf {
namespace {

// From NVML's API reference; the toolkit at hand has no nvml.h.
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;

template <class Function>
Function* Find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

Nvml::Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  const auto init = Find<int()>(library_, "nvmlInit_v2");
  const auto get = Find<int(unsigned, void**)>(library_, "nvmlDeviceGetHandleByIndex_v2");
  if (init == nullptr || get == nullptr || init() != kSuccess || get(0, &device_) != kSuccess) {
    device_ = nullptr;
  }
}

GpuState Nvml::State() const {
  GpuState state;
  if (device_ == nullptr) return state;
  using Read = int(void*, unsigned*);
  using ReadKind = int(void*, int, unsigned*);
  using ReadBits = int(void*, unsigned long long*);
  const auto read_kind = [&](const char* name, int kind) {
    const auto function = Find<ReadKind>(library_, name);
    unsigned value = 0;
    return function != nullptr && function(device_, kind, &value) == kSuccess ? value : 0;
  };
  state.sm_clock_mhz = read_kind("nvmlDeviceGetClockInfo", kClockSm);
  state.max_sm_clock_mhz = read_kind("nvmlDeviceGetMaxClockInfo", kClockSm);
  state.celsius = read_kind("nvmlDeviceGetTemperature", kTemperatureGpu);
  unsigned milliwatts = 0;
  if (const auto power = Find<Read>(library_, "nvmlDeviceGetPowerUsage");
      power != nullptr && power(device_, &milliwatts) == kSuccess) {
    state.watts = milliwatts / 1000.0;
  }
  unsigned long long reasons = 0;
  if (const auto throttle = Find<ReadBits>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons");
      throttle != nullptr && throttle(device_, &reasons) == kSuccess) {
    state.throttle_reasons = reasons;
  }
  return state;
}

std::string Nvml::DriverVersion() const {
  const auto get = Find<int(char*, unsigned)>(library_, "nvmlSystemGetDriverVersion");
  char version[96] = {};
  return device_ != nullptr && get != nullptr && get(version, sizeof(version)) == kSuccess
             ? version
             : "unknown";
}

}  // namespace weft::perf
