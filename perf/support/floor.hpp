// The least time a convolution can take, from bytes and operations.
#pragma once

#include <algorithm>

#include "weft/conv/problem/problem.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::perf {

// What a GPU can do at most, measured or taken from its data.
struct Ceilings {
  double bytes_per_us = 0.0;  // device memory, reads plus writes
  double macs_per_us = 0.0;   // of the instruction in question
};

// The filters of all groups as one tensor, [K][C / G][R][S] in some order, as cuDNN takes them.
constexpr FilterExtents WholeFilter(const conv::Problem& p) {
  return {p.k, p.c / p.groups, p.r, p.s};
}

// Bytes of the int8 source, filter, destination and, if there is one, residual, without padding,
// and of the scales and biases; each moved once.
constexpr double LeastBytes(const conv::Problem& p, bool residual = false) {
  return static_cast<double>(NHWC::Size(p.src()) + KRSC::Size(WholeFilter(p)) +
                             NHWC::Size(p.dst()) * (residual ? 2 : 1) + 8 * p.k);
}

// Microseconds: the larger of the time for the bytes and the time for the multiply-accumulates,
// those that meet padding included.
constexpr double FloorMicroseconds(const conv::Problem& p, const Ceilings& ceilings,
                                   bool residual = false) {
  return std::max(LeastBytes(p, residual) / ceilings.bytes_per_us, p.macs() / ceilings.macs_per_us);
}

// int8 through the tensor cores of an H200: what cuBLASLt's 8192^3 product reached once. Stands in
// where the run cannot measure it.
inline constexpr double kFallbackTensorTops = 1536.0;

}  // namespace weft::perf
