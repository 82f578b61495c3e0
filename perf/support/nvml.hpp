// Clocks, power and throttling, read from the driver's management library if it is there.
#pragma once

#include <string>

namespace weft::perf {

struct GpuState {
  double sm_clock_mhz = 0.0;
  double max_sm_clock_mhz = 0.0;
  double watts = 0.0;
  double celsius = 0.0;
  unsigned long long throttle_reasons = 0;  // nvmlClocksThrottleReason bits
};

class Nvml {
 public:
  Nvml();  // opens libnvidia-ml.so.1; without it every answer is zeros
  GpuState State() const;
  std::string DriverVersion() const;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace weft::perf
