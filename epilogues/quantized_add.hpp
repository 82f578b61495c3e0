// The addition of two quantised tensors behind a convolution, ONNX's QLinearAdd, to the bits of onnxruntime's kernels for
// x86:
//
//     Chain<SourceZeroPoint, SumBias, Scale, QuantizedAdd<std::uint8_t>, ClampTo<std::uint8_t>>
//
// With sa, za of the first operand a, sb, zb of the second operand b, and sy, zy of the sum,
//     ra = sa / sy, rb = sb / sy, fixed = zy - fma(ra, za, rb * zb),
//     sum = clamp(round(fma(a, ra, fma(b, rb, fixed)))),
// each operation rounded to float once.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/epilogues/numerics.hpp"
#include "weft/epilogues/stages.hpp"

namespace weft::epilogues {

// Makes of t the integer that the convolution alone would write, clamp(round(t) + zero_point) of type Sum, and adds the
// residual's integer, of type Type. args.gamma is the residual's ratio, rb where the convolution is a (kSumIsFirst) and else
// ra; sum_ratio is that of the convolution. args.zero_point is 0, for fixed has zy. A t that is NaN counts as the greatest
// integer.
template <class Sum = std::uint8_t, class Type = std::uint8_t, bool kSumIsFirst = true>
struct QuantizedAdd : Residual<Type> {
  static_assert(std::is_same_v<Sum, std::int8_t> || std::is_same_v<Sum, std::uint8_t>,
                "weft: QuantizedAdd<S, R> takes S = std::int8_t or std::uint8_t");
  float zero_point = 0.0f;  // an integer of type Sum
  float sum_ratio = 1.0f, fixed = 0.0f;

  constexpr float operator()(float t, float gamma, float residual) const {
    // Above counts from the least integer, in units of 1 / 256: an fma limits its result to [0, 1] for nothing, where a minimum
    // or a maximum takes as long as two fmas.
    constexpr float kUnit = 1.0f / 256.0f;
    constexpr float kMagic = 12582912.0f * kUnit;  // floats there are one unit apart
    constexpr auto kLeast = static_cast<float>((std::numeric_limits<Sum>::min)());
    constexpr auto kMost = static_cast<float>((std::numeric_limits<Sum>::max)());
    const float rounded = Fma(t, kUnit, kMagic);
    const float below = FmaSaturated(rounded, -1.0f, kMagic + (kMost - zero_point) * kUnit);
    const float above = FmaSaturated(below, -1.0f, (kMost - kLeast) * kUnit);
    const auto plus_sum = [&](float other) {
      if constexpr (kLeast == 0.0f) {
        return Fma(above, 256.0f * sum_ratio, other);
      } else {
        return Fma(Fma(above, 256.0f, kLeast), sum_ratio, other);
      }
    };
    if constexpr (kSumIsFirst) {
      return plus_sum(Fma(residual, gamma, fixed));
    } else {
      return Fma(residual, gamma, plus_sum(fixed));
    }
  }
};

namespace internal {

template <class StageT>
inline constexpr bool kIsQuantizedAdd = false;
template <class Sum, class Type, bool kSumIsFirst>
inline constexpr bool kIsQuantizedAdd<QuantizedAdd<Sum, Type, kSumIsFirst>> = true;

}  // namespace internal

}  // namespace weft::epilogues
