// Takes the zero points of a filter from a depthwise kernel's accumulators.
//
// An output of a channel whose filter values w stand for w - zw is
//     sum of x (w - zw)  =  sum of x w  -  zw * (sum of x),
// over the taps in the image. The last sum is over the output's own receptive field: as no other
// channel shares it, it is not read from memory (gemm/policy/output_params.hpp) but added up here.
// The receptive fields of a thread's output rows overlap, and the rows of one are those above its
// end without those above its start. So a thread keeps one running sum for each column and channel,
// over all input rows that it has seen, whatever the filter's height.
#pragma once

#include <cstdint>

#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/conv/policy/policy.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::conv {
inline namespace WEFT_BACKEND {

// Loads of the source and of filters, zeros if not `inside`. In a dependent launch they are
// coherent, because earlier grids may write what they read while this grid already runs.
template <class PolicyT, class Type>
WEFT_DEVICE Type LoadDepthwise(arch::Thread t, const Type* at, bool inside) {
  if constexpr (PolicyT::kDependentLaunch) {
    return t.LoadGlobalCoherentOr0(at, inside);
  } else {
    return t.LoadGlobalOr0(at, inside);
  }
}

// Returns sum + the dot product of four pixels of a channel (bytes of PolicyT's Element) and their
// taps (int8).
template <class PolicyT>
WEFT_DEVICE std::int32_t DepthwiseDot(arch::Thread t, std::uint32_t pixels, std::uint32_t taps,
                                      std::int32_t sum) {
  if constexpr (CheckedPolicy<PolicyT>::kUnsigned) {
    return t.Dp4aU8S8(pixels, taps, sum);
  } else {
    return t.Dp4a(pixels, taps, sum);
  }
}

// The class for policies without a FilterZeroPoint stage does nothing.
template <class PolicyT, bool kHas = PolicyT::Epilogue::kFilterZeroPoint>
class DepthwiseFilterZeros {
 public:
  template <class Output>
  WEFT_DEVICE DepthwiseFilterZeros(arch::Thread, const Output&, std::int32_t) {}
  WEFT_DEVICE void Begin(std::int32_t (*)[4]) const {}
  WEFT_DEVICE void End(std::int32_t (*)[4]) const {}
  WEFT_DEVICE void See(arch::Thread, int, int, std::uint32_t, std::uint32_t) {}
};

template <class PolicyT>
class DepthwiseFilterZeros<PolicyT, true> {
  static constexpr int kColumns = DepthwiseConfig::kColumns;

 public:
  // Loads the zero points of channels k to k + 3. Output: an OutputParams.
  template <class Output>
  WEFT_DEVICE DepthwiseFilterZeros(arch::Thread t, const Output& p, std::int32_t k) {
    WEFT_UNROLL
    for (int c = 0; c < 4; ++c) {
      zero_[c] = static_cast<std::uint32_t>(
          LoadDepthwise<PolicyT>(t, p.filter_zero_point + k + c, k + c < p.k));
    }
  }

  // Begin is called before the first input row of a row of outputs, End after its last: the running
  // sum is added times zw, then subtracted. sums: the accumulators of that row's pixels. Everything
  // is modulo 2^32.
  WEFT_DEVICE void Begin(std::int32_t (*sums)[4]) const { Add<true>(sums); }
  WEFT_DEVICE void End(std::int32_t (*sums)[4]) const { Add<false>(sums); }

  // Adds four pixels of channel c to the running sum of column j, without those whose byte of
  // `ones` is 0.
  WEFT_DEVICE void See(arch::Thread t, int j, int c, std::uint32_t pixels, std::uint32_t ones) {
    seen_[j][c] = DepthwiseDot<PolicyT>(t, pixels, ones, seen_[j][c]);
  }

 private:
  template <bool kPlus>
  WEFT_DEVICE void Add(std::int32_t (*sums)[4]) const {
    WEFT_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      WEFT_UNROLL
      for (int c = 0; c < 4; ++c) {
        const std::uint32_t product = zero_[c] * static_cast<std::uint32_t>(seen_[j][c]);
        const auto sum = static_cast<std::uint32_t>(sums[j][c]);
        sums[j][c] = static_cast<std::int32_t>(kPlus ? sum + product : sum - product);
      }
    }
  }

  std::uint32_t zero_[4];
  std::int32_t seen_[kColumns][4] = {};
};

}  // namespace WEFT_BACKEND
}  // namespace weft::conv
