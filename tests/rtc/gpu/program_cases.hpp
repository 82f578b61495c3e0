// Policies for tests of run-time compilation: once as types, once as text.
#pragma once

#include "weft/conv/ready_made.hpp"

#define WEFT_RTC_CASES(...)   \
  namespace weft::rtc_cases { \
  __VA_ARGS__                 \
  }                           \
  inline constexpr char kRtcCases[] = #__VA_ARGS__;

WEFT_RTC_CASES(
    struct SquaredRelu {
      float scale = 0.1f;
      constexpr float operator()(float x) const {
        return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f;
      }
    };
    struct Epilogue : weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Bias<>,
                                             SquaredRelu, weft::epilogues::ClampTo<std::int8_t>>{};
    struct Simt : weft::conv::S8Conv4<Epilogue>{};
    struct Tma : weft::conv::S8Conv32<Epilogue, weft::NCxHWx<32>, weft::conv::Wgmma128x128>{};
    struct Gather : weft::conv::S8ConvNhwc<Epilogue, weft::NHWC, weft::conv::WgmmaGather64x64, 8,
                                           8>{};
    struct First : weft::conv::S8Conv4<Epilogue, weft::NCxHWx<32>, weft::conv::WgmmaFirst512x64>{};
    struct ZeroPoints : weft::conv::S8Conv32<weft::epilogues::QLinear<std::int8_t>,
                                             weft::NCxHWx<32>, weft::conv::Wgmma128x128>{};
    struct Depthwise : weft::conv::S8Depthwise32<Epilogue>{};)
