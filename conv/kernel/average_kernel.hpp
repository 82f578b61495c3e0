// AverageKernel: averages of what an ImageSums stage has added up, for conv::PooledAverage.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/epilogues/chain.hpp"
#include "weft/gemm/arch/arch.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/gemm/tile/fast_divmod.hpp"

namespace weft::conv {

// Stands in the place of a policy for the back ends (gemm/launch/launch.hpp); compiled once for all
// operators.
struct AverageSums {};

// What an AverageKernel is launched with. A thread makes one output.
struct AverageParams {
  std::int32_t* sums = nullptr;  // [images][k]
  void* dst = nullptr;           // [images][padded_k]
  float alpha = 1.0f, zero_point = 0.0f;
  std::int32_t k = 0;
  std::int32_t outputs = 0;
  gemm::FastDivmod padded_k;
};

// The output stage that converts an average to Type.
template <class Type>
struct AverageStage {
  using type = epilogues::ClampTo<Type>;
};
template <>
struct AverageStage<float> {
  using type = epilogues::ToFloat;
};

inline namespace WEFT_BACKEND {

template <class Type>
struct AverageKernel {
  using Params = AverageParams;
  static constexpr int kThreads = 128;
  static constexpr arch::Requires kRequires{.min = 75};
  static constexpr bool kDependent = true;
  static constexpr int kMinBlocksPerSm = 8;
  struct SharedStorage {};

  WEFT_DEVICE void operator()(const Params& p, SharedStorage&, arch::Thread t) const {
    using namespace epilogues;  // NOLINT: the numerics contract, as every epilogue has it
    t.LetLaterGridsStart();
    t.WaitForEarlierGrids();
    const std::int32_t i = t.block_x() * kThreads + t.tid();
    if (i >= p.outputs) return;
    std::int32_t k = 0;
    const std::int32_t image = p.padded_k.Divmod(i, k);
    Type average{};
    if (k < p.k) {
      std::int32_t* const sum = p.sums + std::int64_t{image} * p.k + k;
      StageInputs in;
      in.accumulator = t.LoadGlobalCoherent(sum);
      in.alpha = p.alpha;
      in.zero_point = p.zero_point;
      average = Chain<Scale, typename AverageStage<Type>::type>{}(in, OutputCoord{});
      t.StoreGlobal(sum, 0);
    }
    t.StoreGlobal(static_cast<Type*>(p.dst) + i, average);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv

namespace weft::gemm {
inline namespace WEFT_BACKEND {

template <>
struct KernelList<conv::AverageSums> {
  static constexpr int kCount = 3;
  template <int i>
  static constexpr bool kExists = true;
  template <int i>
  using Kernel = conv::AverageKernel<
      std::conditional_t<i == 0, std::int8_t, std::conditional_t<i == 1, std::uint8_t, float>>>;
};

}  // namespace WEFT_BACKEND
}  // namespace weft::gemm
