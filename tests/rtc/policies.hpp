// Policies for tests of run-time compilation, one of each kind of kernel: once as types, once as text.
#pragma once

#include "weft/conv/ready_made.hpp"

#define WEFT_RTC_CASES(...)   \
  namespace weft::rtc_cases { \
  __VA_ARGS__                 \
  }                           \
  inline constexpr char kRtcCases[] = "namespace weft::rtc_cases {" #__VA_ARGS__ "}";

WEFT_RTC_CASES(
    struct SquaredRelu {
  float scale = 0.1f;
  constexpr float operator()(float x) const {
    return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f;
  }
    };
    struct Squared : weft::epilogues::BiasActivation<SquaredRelu>{};
    struct Simt : weft::conv::S8Conv4<Squared, weft::NCHW>{};
    struct Nhwc : weft::conv::S8ConvNhwc<Squared>{};
    struct Tma : weft::conv::S8Conv32<Squared, weft::NCxHWx<32>, weft::conv::Wgmma128x128>{};
    struct PingPong : weft::conv::S8ConvNhwc<Squared, weft::NHWC,
                                             weft::conv::Wgmma128x64PingPong>{};
    struct Gather : weft::conv::S8ConvNhwc<Squared, weft::NHWC, weft::conv::WgmmaGather64x64, 8,
                                           8>{};
    struct First : weft::conv::S8Conv4<Squared, weft::NCxHWx<32>, weft::conv::WgmmaFirst512x64>{};
    struct ZeroPoints : weft::conv::S8Conv32<weft::epilogues::QLinear<std::int8_t>,
                                             weft::NCxHWx<32>, weft::conv::Wgmma128x128>{};
    struct EachImage : weft::conv::S8Conv4<
        Squared> {
  using Prologue = weft::prologues::PerSample; };
    struct ALine { constexpr float operator()(float x) const { return x * 0.1f + 0.3f;
}
}
;
struct Line : weft::conv::S8Conv4<
                  weft::epilogues::Chain<weft::epilogues::Scale, ALine, weft::epilogues::ToFloat>,
                  weft::NCHW> {};
struct Depthwise : weft::conv::S8Depthwise32<Squared> {};)
