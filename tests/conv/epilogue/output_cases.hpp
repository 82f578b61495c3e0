// Rounding, and residuals of every type. Every type of output to every destination layout is in
// table/operators.def.
#pragma once

#include "tests/conv/harness.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {
namespace {

using namespace epilogues;  // NOLINT: a test file about them

template <class T>
struct OutputOf {
  using type = Chain<Scale, Bias<>, RoundTo<T>>;
};
template <>
struct OutputOf<float> {
  using type = Chain<Scale, Bias<>, ToFloat>;
};
template <>
struct OutputOf<std::int8_t> {
  using type = Chain<Scale, Bias<>, ClampTo<std::int8_t>>;
};
template <>
struct OutputOf<std::uint8_t> {
  using type = Chain<Scale, Bias<>, ClampTo<std::uint8_t>>;
};
template <class T>
using To = typename OutputOf<T>::type;

template <class P, class Activation = reference::NoActivation>
void RunOutputs(RunOptions options = {},
                reference::OutputRange<typename P::Epilogue::Output> range =
                    FullRange<typename P::Epilogue::Output>(),
                const Activation& activation = {}) {
  std::mt19937 engine(5);
  for (int i = 0; i < 6; ++i) {
    Problem problem = RandomProblem(engine);
    if (P::DstLayout::kChannelRun == 0) problem.k = RoundUp(problem.k, 16);
    if (P::SrcLayout::kChannelRun == 0) problem.c = RoundUp(problem.c, 16);
    options.seed = static_cast<std::uint32_t>(engine());
    ExpectMatchesReference<P>(problem, activation, options, {}, range);
    if (testing::Test::HasFailure()) return;
  }
}

// Of 16 bits, as the output is.
TEST(ConvolutionOutputs, WgmmaResidualHalfToHalf) {
  using Residue = Chain<Residual<Half>, Scale, Bias<>, Relu, RoundTo<Half>>;
  RunOutputs<S8Conv32<Residue, NCxHWx<32>, Wgmma32x64>>({.gamma = -0.7f}, FullRange<Half>(),
                                                        reference::ReluActivation{});
}

// Values and not sums; some beyond int32.
TEST(ConvolutionOutputs, RoundedToInt32) {
  RunOutputs<S8Conv4<To<std::int32_t>, NHWC, Tile32x32>>({.alpha = 0.125f}, {.is_value = true});
  RunOutputs<S8Conv4<To<std::int32_t>, NHWC, Tile32x32>>({.alpha = 40000.0f}, {.is_value = true});
}

// Values of which every 32nd or so lies halfway between two integers, and half of them saturate.
TEST(ConvolutionOutputs, Rounding) {
  using Away = Chain<Scale, RoundedTo<std::int8_t, Rounding::kHalfAway>>;
  using Up = Chain<Scale, RoundedTo<std::int8_t, Rounding::kHalfUp>>;
  using UpBytes = Chain<Scale, Relu, ClampTo<std::uint8_t, 10, 200, Rounding::kHalfUp>>;
  const RunOptions ties{.alpha = 0.015625f}, shifted{.alpha = 0.015625f, .zero_point = 3.0f};
  const reference::OutputRange<std::int8_t> away{-128, 127, reference::Ties::kAway};
  const reference::OutputRange<std::int8_t> up{-128, 127, reference::Ties::kUp};
  RunOutputs<S8Conv4<Away, NCxHWx<4>, Tile32x32>>(ties, away);
  RunOutputs<S8Conv4<Up, NCHW, Tile32x32>>(shifted, up);
  RunOutputs<S8Conv32<Up, NCxHWx<32>, Mma64x32>>(ties, up);
  RunOutputs<S8Conv32<Away, NCxHWx<32>, Wgmma32x64>>(ties, away);
  RunOutputs<S8Conv32<Away, NCxHWx<32>, Wgmma32x64>>(shifted, away);
  RunOutputs<S8Conv32<UpBytes, NCxHWx<4>, Wgmma32x64>>(shifted, {10, 200, reference::Ties::kUp},
                                                       reference::ReluActivation{});
}

// Before and after an activation, with a scale and a layout of their own.
TEST(ConvolutionOutputs, Residuals) {
  using Bytes = Chain<Residual<std::uint8_t>, Scale, Bias<>, Relu, ClampTo<std::uint8_t>>;
  using Late = Chain<Scale, Bias<>, Relu, Residual<Half, NHWC>, ClampTo<std::int8_t>>;
  using Sixteen = Chain<Residual<Bfloat16, NCHW>, Scale, Bias<>, RoundTo<Bfloat16>>;
  const auto range = FullRange<std::uint8_t>();
  const reference::ReluActivation relu;
  RunOutputs<S8Conv4<Bytes, NCxHWx<32>, Tile32x32>>({.gamma = 0.7f}, range, relu);
  RunOutputs<S8Conv32<Bytes, NCxHWx<32>, Mma64x32>>({.gamma = -0.7f}, range, relu);
  RunOutputs<S8Conv32<Late, NCxHWx<32>, Mma64x32>>({.gamma = 0.3f, .late_residual = true},
                                                   FullRange<std::int8_t>(), relu);
  RunOutputs<S8Conv4<Sixteen, NCxHWx<4>, Tile32x32>>({.gamma = 1.5f});
}

// Before and after an activation, in a format of their own, through every way of loading one.
TEST(ConvolutionOutputs, ResidualsWithZeroPoints) {
  using First = Chain<ResidualWithZeroPoint<>, Scale, Bias<>, Relu, ClampTo<std::int8_t>>;
  using Bytes =
      Chain<ResidualWithZeroPoint<std::uint8_t>, Scale, Bias<>, Relu, ClampTo<std::uint8_t>>;
  using Late =
      Chain<Scale, Bias<>, Relu, ResidualWithZeroPoint<std::uint8_t, NCHW>, ClampTo<std::int8_t>>;
  const auto range = FullRange<std::int8_t>();
  const reference::ReluActivation relu;
  const RunOptions s8{.gamma = 0.7f, .zero_point = 5.0f, .residual_zero_point = -17.0f};
  const RunOptions late{.gamma = -0.3f, .late_residual = true, .residual_zero_point = 255.0f};
  RunOutputs<S8Conv4<First, NCxHWx<32>, Tile32x32>>(s8, range, relu);
  RunOutputs<S8Conv32<First, NCxHWx<32>, Mma64x32>>(s8, range, relu);
  RunOutputs<S8Conv32<First, NCxHWx<32>, Wgmma32x64>>(s8, range, relu);
  RunOutputs<S8Conv32<Bytes, NCxHWx<32>, Wgmma32x64>>(
      {.gamma = 0.7f, .residual_zero_point = 128.0f}, FullRange<std::uint8_t>(), relu);
  RunOutputs<S8Conv32<Late, NCxHWx<32>, Mma64x32>>(late, range, relu);
  RunOutputs<S8Conv32<Late, NCxHWx<32>, Wgmma32x64>>(late, range, relu);
}

// Bytes through shared memory, others from where they are.
template <class Residual, class Output = std::int8_t>
void RunWgmmaResidual() {
  using Epilogue = Chain<Residual, Scale, Bias<>, Relu, ClampTo<Output>>;
  RunOutputs<S8Conv32<Epilogue, NCxHWx<32>, Wgmma32x64>>({.gamma = -0.7f}, FullRange<Output>(),
                                                         reference::ReluActivation{});
}
TEST(ConvolutionOutputs, WgmmaResidualInt8) {
  RunWgmmaResidual<Residual<std::int8_t>>();
}
TEST(ConvolutionOutputs, WgmmaResidualUint8) {
  RunWgmmaResidual<Residual<std::uint8_t>>();
}
TEST(ConvolutionOutputs, WgmmaResidualUint8ToUint8) {
  RunWgmmaResidual<Residual<std::uint8_t>, std::uint8_t>();
}
TEST(ConvolutionOutputs, WgmmaResidualHalfOfNhwc) {
  RunWgmmaResidual<Residual<Half, NHWC>>();
}
TEST(ConvolutionOutputs, WgmmaResidualBfloat16OfNchw) {
  RunWgmmaResidual<Residual<Bfloat16, NCHW>>();
}

}  // namespace
}  // namespace weft::conv
