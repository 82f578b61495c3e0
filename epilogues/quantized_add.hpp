// The addition of two quantised tensors behind a convolution, ONNX's QLinearAdd, to the bits of onnxruntime's kernels for
// x86:
//
//     Chain<SourceZeroPoint, SumBias, Scale, QuantizeSteps<>, QuantizedAdd<std::uint8_t>, ClampTo<std::uint8_t>>
//
// QuantizeSteps makes of t the integer q that the convolution alone would write. With sa, za of the first operand a, sb, zb of
// the second operand b, and sy, zy of the sum, of which b * rb and a * ra are the steps,
//     ra = sa / sy, rb = sb / sy, fixed = zy - fma(ra, za, rb * zb),
//     sum = clamp(round(fma(a, ra, fma(b, rb, fixed)))),
// each operation rounded to float once.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/numerics.hpp"
#include "weft/epilogues/stages.hpp"

namespace weft::epilogues {

// t = clamp(round(t) + zero_point), limited to the range of Type, the type of the integers; NaN gives the greatest. It
// counts in units of 1 / 256, so that the range ends at 0 and below 1, to which an fma limits its result for nothing:
// a minimum or a maximum takes as long as two fmas.
template <class Type = std::uint8_t>
struct QuantizeSteps {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t>,
                "weft: QuantizeSteps<T> takes T = std::int8_t or std::uint8_t");
  static constexpr auto kLeast = static_cast<float>((std::numeric_limits<Type>::min)());
  static constexpr auto kMost = static_cast<float>((std::numeric_limits<Type>::max)());
  static constexpr float kUnit = 1.0f / 256.0f;
  static constexpr float kMagic = 12582912.0f * kUnit;  // floats there are one unit apart
  float zero_point = 0.0f;                              // an integer of Type

  // The integer less the least one of Type, times kUnit.
  constexpr float Units(float t) const {
    const float rounded = Fma(t, kUnit, kMagic);
    const float below_most = FmaSaturated(rounded, -1.0f, kMagic + (kMost - zero_point) * kUnit);
    return FmaSaturated(below_most, -1.0f, (kMost - kLeast) * kUnit);
  }
  // The same of a t that makes no integer above the greatest one.
  constexpr float UnitsUpToMost(float t) const {
    return FmaSaturated(Fma(t, kUnit, kMagic), 1.0f, (zero_point - kLeast) * kUnit - kMagic);
  }
  static constexpr float FromUnits(float units) { return Fma(units, 1.0f / kUnit, kLeast); }
  constexpr float operator()(float t) const { return FromUnits(Units(t)); }
};

// Adds the integer t of QuantizeSteps and the residual's integer. args.gamma is the residual's ratio, rb where t is a
// (kSumIsFirst) and else ra; sum_ratio is that of t. args.zero_point is 0, for fixed has zy.
template <class Type = std::uint8_t, bool kSumIsFirst = true>
struct QuantizedAdd : Residual<Type> {
  float sum_ratio = 1.0f, fixed = 0.0f;

  constexpr float Sum(float t, float gamma, float residual) const {
    return Sum(t, sum_ratio, gamma, residual);
  }
  // The same of Steps::Units; where the least integer is 0, the ratio takes the place of a multiplication.
  template <class Steps>
  constexpr float SumOfUnits(float units, float gamma, float residual) const {
    if constexpr (Steps::kLeast == 0.0f) {
      return Sum(units, Mul(sum_ratio, 1.0f / Steps::kUnit), gamma, residual);
    } else {
      return Sum(Steps::FromUnits(units), gamma, residual);
    }
  }

 private:
  constexpr float Sum(float t, float ratio, float gamma, float residual) const {
    if constexpr (kSumIsFirst) {
      return Fma(t, ratio, Fma(residual, gamma, fixed));
    } else {
      return Fma(residual, gamma, Fma(t, ratio, fixed));
    }
  }
};

namespace internal {

template <class StageT>
inline constexpr bool kIsQuantizedAdd = false;
template <class Type, bool kSumIsFirst>
inline constexpr bool kIsQuantizedAdd<QuantizedAdd<Type, kSumIsFirst>> = true;

// Whether a QuantizedAdd stands right behind a QuantizeSteps.
template <class... Stages>
inline constexpr bool kAddsSteps = false;
template <class Steps, class Type, bool kSumIsFirst, class... Rest>
inline constexpr bool kAddsSteps<QuantizeSteps<Steps>, QuantizedAdd<Type, kSumIsFirst>, Rest...> =
    true;

}  // namespace internal

}  // namespace weft::epilogues
