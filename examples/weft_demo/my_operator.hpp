// The demo's operator. This file is yours to change: `cmake --workflow --preset demo` compiles it
// anew and compares it with plain loops again.
#pragma once

#include <cstdint>

#include "weft/conv/policy.hpp"

namespace weft_demo {

namespace e = weft::epilogues;

// begin
struct SquaredRelu {  // of real numbers
  float strength = 1.0f;
  constexpr float operator()(float x) const {  // Mul rounds once on every back end
    return x > 0.0f ? e::Mul(strength, e::Mul(x, x)) : 0.0f;
  }
};

struct MyConv {  // int8 images, channels last, through the tensor cores of any GPU from sm_80
  using Element = std::int8_t;
  using SrcLayout = weft::NHWC;
  using FilterLayout = weft::KRSC;
  using DstLayout = weft::NHWC;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue =
      e::Chain<e::Scale, e::Bias<float>, SquaredRelu, e::OutputScale, e::ClampTo<std::int8_t>>;
  static constexpr auto config = weft::conv::kMma128x64;
};

struct MyConvOnHopper : MyConv {  // the same through TMA and wgmma
  static constexpr auto config = weft::conv::kWgmma112x64;
};
// end

}  // namespace weft_demo
