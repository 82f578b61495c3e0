// The least time a convolution can take, from bytes and operations.
#pragma once

#include "weft/conv/problem.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

// What a GPU can do at most, measured or taken from its data.
struct Ceilings {
  double bytes_per_us = 0.0;  // device memory, reads plus writes
  double macs_per_us = 0.0;   // of the instruction in question
};

// Bytes of int8 source, filter and destination in channel blocks of 4, and of the scales and
// biases; each moved once.
constexpr double Nc4Bytes(const conv::Problem& p) {
  return static_cast<double>(NCxHWx<4>::Size(p.src()) + CxRSKx<4>::Size(p.filter()) +
                             NCxHWx<4>::Size(p.dst()) + 8 * p.k);
}

// Microseconds: the larger of the time for the bytes and the time for the multiply-accumulates.
constexpr double FloorMicroseconds(const conv::Problem& p, const Ceilings& ceilings) {
  const double bytes = Nc4Bytes(p) / ceilings.bytes_per_us;
  const double macs = p.macs() / ceilings.macs_per_us;
  return bytes > macs ? bytes : macs;
}

// dp4a on Hopper, per the CUDA C++ Programming Guide's table of instruction throughput: 64 results
// a clock on a multiprocessor, 4 multiply-accumulates each.
constexpr double Dp4aMacsPerMicrosecond(int multiprocessors, double clock_mhz) {
  return multiprocessors * 64.0 * 4.0 * clock_mhz;
}

}  // namespace weft::perf
