// The reference convolution as a GPU kernel: the lines of reference.hpp, one thread an output, for
// problems on which a CPU takes minutes. Both back ends, so that a CPU test can run it too.
#pragma once

#include <cstdint>

#include "tests/reference/reference.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/launch_result.hpp"

namespace weft::reference {

template <class Activation>
struct ConvolveParams {
  conv::Problem problem;
  const std::int8_t* src = nullptr;     // NCHW
  const std::int8_t* filter = nullptr;  // [K][C / G][R][S]
  EpilogueData epilogue;                // pointers that the back end can use
  Activation activation;
  std::int8_t* dst = nullptr;  // NCHW
};

constexpr int kConvolveThreads = 256;

template <class Activation>
constexpr int ConvolveBlocks(const ConvolveParams<Activation>& p) {
  const std::int64_t outputs = p.problem.n * p.problem.k * p.problem.p() * p.problem.q();
  return static_cast<int>((outputs + kConvolveThreads - 1) / kConvolveThreads);
}

// Enqueues the convolution on `stream`. Activation is NoActivation, ReluActivation or
// HSwishActivation; pointers are GPU addresses. Needs a build with CUDA.
template <class Activation>
arch::LaunchResult ConvolveOnGpu(const ConvolveParams<Activation>& params, Stream stream);

inline namespace WEFT_BACKEND {

template <class Activation>
struct ConvolveKernel {
  using Params = ConvolveParams<Activation>;
  struct SharedStorage {};
  static constexpr int kThreads = kConvolveThreads;
  static constexpr arch::Requires kRequires{.min = 75};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    const std::int64_t index = static_cast<std::int64_t>(t.block_x()) * kThreads + t.tid();
    if (index >= p.problem.n * p.problem.k * p.problem.p() * p.problem.q()) return;
    t.StoreGlobal(p.dst + index,
                  Output(p.problem, p.src, p.filter, p.epilogue, p.activation,
                         OutputRange<std::int8_t>{-128, 127}, index, FilterOfGroup()));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::reference
