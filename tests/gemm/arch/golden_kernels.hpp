// Micro-kernels for golden vectors, one for each primitive that primitive_kernels.hpp does not
// already run alone. Words in, words out.
#pragma once

#include <cstdint>

#include "tests/gemm/arch/primitive_kernels.hpp"

namespace weft::arch::testing {
inline namespace WEFT_BACKEND {

// in: 32 lanes x (a, b, c); out: 32.
struct Dp4aKernel {
  static constexpr int kThreads = 32;
  static constexpr int kMinComputeCapability = 75;
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    const uint32_t* in = p.in + 3 * t.lane();
    p.out[t.lane()] =
        static_cast<uint32_t>(Thread::Dp4a(in[0], in[1], static_cast<int32_t>(in[2])));
  }
};

// in: 32 values, then 32 source lanes, of any value; out: 32.
struct ShflKernel {
  static constexpr int kThreads = 32;
  static constexpr int kMinComputeCapability = 75;
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    p.out[t.lane()] = t.Shfl(p.in[t.lane()], static_cast<int>(p.in[32 + t.lane()]));
  }
};

// in: 32; out: for each x below 32, 32.
struct ShflXorKernel {
  static constexpr int kThreads = 32;
  static constexpr int kMinComputeCapability = 75;
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    for (int x = 0; x < 32; ++x) p.out[32 * x + t.lane()] = t.ShflXor(p.in[t.lane()], x);
  }
};

// in: 32; out: for each of their bits, 32.
struct BallotKernel {
  static constexpr int kThreads = 32;
  static constexpr int kMinComputeCapability = 75;
  using Params = WordParams;
  using SharedStorage = NoShared;

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, Thread t) const {
    for (int bit = 0; bit < 32; ++bit) {
      p.out[32 * bit + t.lane()] = t.Ballot((p.in[t.lane()] >> bit & 1) != 0);
    }
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch::testing
