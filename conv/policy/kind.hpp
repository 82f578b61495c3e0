// The kinds of convolution kernels. A policy's types decide which kind it has (CheckedPolicy::kKind), once: what
// has a policy asks KindOf, and what has its facts asks ConvFacts::kind.
#pragma once

#include <cstdint>

#include "weft/layouts/base/compiler.hpp"

namespace weft::conv {

// In the order of the alternatives of ConvPlan::kernel.
enum class Kind : std::uint8_t {
  kMultistage,  // every thread loads, multiplies and stores: simt, mma_sm75 and mma_sm80
  kTma,         // wgmma_sm90; TMA loads both operands
  kFirstLayer,  // wgmma_sm90 over NCxHWx<4>: a sliding-window operand, and a filter that stays
  kGather,      // wgmma_sm90 over NHWC whose rows begin where TMA cannot read: threads load them
  kDepthwise,   // a filter for each channel, which is no matrix product
};

constexpr bool IsWgmma(Kind kind) {
  return kind == Kind::kTma || kind == Kind::kFirstLayer || kind == Kind::kGather;
}

}  // namespace weft::conv
