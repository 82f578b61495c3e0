// Pieces of what programs find. Plain data without pointers: a worker process fills it in memory
// that it shares with the process that outlives it.
#pragma once

#include <cstdio>
#include <string>

namespace weft::perf {

template <int kSize>
struct Text {
  char chars[kSize] = {};
  void Set(const std::string& text) { std::snprintf(chars, kSize, "%s", text.c_str()); }
  std::string Get() const { return chars; }
  bool empty() const { return chars[0] == 0; }
};

struct Timing {
  double us = 0.0;  // median; 0: not measured
  double p10 = 0.0;
  double p90 = 0.0;
  double noise = 0.0;  // of the median, as a fraction of it: statistics.hpp, HalvesDiffer
};

// Where and with what a run was made.
struct Environment {
  Text<96> device;
  int multiprocessors = 0;
  double l2_mb = 0.0;
  Text<32> driver, cuda;
  double copy_tb_s = 0.0;      // measured: device-to-device copy, read plus write
  double dp4a_tops = 0.0;      // measured: two operations a multiply-accumulate
  double tensor_tops = 0.0;    // int8 through tensor cores
  Text<160> tensor_source;     // what reached it in this run, or that it is a constant
  double max_clock_mhz = 0.0;  // what the device may reach
  double first_clock_mhz = 0.0, last_clock_mhz = 0.0;  // under load
  double watts = 0.0, celsius = 0.0;                   // at the end
  unsigned long long throttle_reasons = 0;             // NVML's bits, all rows together
};

}  // namespace weft::perf
