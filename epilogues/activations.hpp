// Activations: what happens to a value between the bias and the conversion to the output type.
//
// An activation is any copyable type with
//     constexpr float operator()(float x) const;
// or, if it needs to know where the value is,
//     constexpr float operator()(float x, const weft::epilogues::OutputCoord& at) const;
// or, if each output channel has a value of its own, with that value and where to find it (PRelu),
//     constexpr float operator()(float x, float channel_value) const;
//     constexpr const float* ChannelValues() const;
// It carries no CUDA macro: the same function runs on both back ends. For that it must be constexpr
// together with all that it calls, which Chain checks. It may have data members if it stays
// trivially copyable; they are the `epilogue` argument of Run. Results are defined to the bit if
// the functor uses the functions of numerics.hpp, or one operation per statement.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/epilogues/numerics.hpp"

namespace weft::epilogues {

// Where an output value lies: image n, output channel k, row p, column q. In a matrix product k is
// the column of C and q its row, n the product of a batch; p is 0.
struct OutputCoord {
  std::int64_t n = 0;
  std::int32_t k = 0;
  std::int32_t p = 0;
  std::int32_t q = 0;
};

// A base of activations that are meant for real values only. In a Chain that ends in bytes an
// OutputScale must follow them, which the compiler checks. Relu, LeakyRelu and PRelu need no such
// base, because they commute with a scale, nor does ClampRange, whose limits are in the units of
// its x. Your own activation may have this base, too.
struct OfRealValues {};

struct Identity {
  constexpr float operator()(float x) const { return x; }
};

// max(x, 0); NaN and -0 give +0.
struct Relu {
  constexpr float operator()(float x) const { return x > 0.0f ? x : 0.0f; }
};

// x, or slope * x where x is not above 0.
struct LeakyRelu {
  float slope = 0.01f;
  constexpr float operator()(float x) const { return x > 0.0f ? x : Mul(slope, x); }
};

// The same with a slope for each output channel k.
struct PRelu {
  const float* slope = nullptr;  // one for each k, at an address that the run can read
  constexpr float operator()(float x, float channel_slope) const {
    return x > 0.0f ? x : Mul(channel_slope, x);
  }
  constexpr const float* ChannelValues() const { return slope; }
};

// min(max(x, 0), 6). NaN and -0 give +0.
struct Relu6 : OfRealValues {
  constexpr float operator()(float x) const { return Clamp(x, 0.0f, 6.0f); }
};

// x rounded to the nearest integer, halves to the even one. It stands before ClampTo, which then
// adds the zero point to an integer, as ONNX, TFLite and PyTorch do. ClampTo by itself rounds the
// sum, which differs for ties, and for numbers so close to a tie that adding the zero point makes
// them one. For |x| above 2^22, which ClampTo saturates, the result may be off by a half. As the
// last activation before ClampTo it needs an args.zero_point that is an integer.
struct RoundFirst {
  constexpr float operator()(float x) const { return AndAdd(x, 0.0f); }
  // RoundFirst's result plus an integer of at most 2^22 in magnitude.
  static constexpr float AndAdd(float x, float integer) {
    constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: floats there are one apart
    return Add(Add(x, kMagic), integer - kMagic);
  }
};

// x limited to [low, high]. The limits are run-time values, real ones before an OutputScale. NaN
// gives low, a zero result is +0, and a limit that is NaN does not limit.
struct ClampRange {
  float low = 0.0f;
  float high = 6.0f;
  constexpr float operator()(float x) const { return Limit(x, low, high); }
};

// min(max(x + 3, 0), 6) / 6, computed as x times the float nearest to 1/6 plus 1/2, rounded once
// and limited to [0, 1]; within 4.5e-8. NaN gives 0.
struct HSigmoid : OfRealValues {
  constexpr float operator()(float x) const { return FmaSaturated(x, 1.0f / 6.0f, 0.5f); }
};

// x * min(max(x + 3, 0), 6) / 6 (Howard et al., "Searching for MobileNetV3", 2019), computed as x *
// HSigmoid(x), which is rounded once more; within 1.6e-7.
struct HSwish : OfRealValues {
  constexpr float operator()(float x) const { return Mul(x, HSigmoid{}(x)); }
};

// An activation of a value that is quantised first: x, in steps, is rounded and limited to the
// range of Type, and Functor is given the real value that this byte stands for, scale * (byte -
// zero_point). The result is real, so an OutputScale follows. It is what a network computes that
// quantises between a convolution and its activation (ONNX's QLinearConv, DequantizeLinear,
// activation). Where nothing is quantised between the two, let alpha, beta and gamma make real
// values and take the activation itself. NaN counts as the least byte.
template <class Functor, class Type = std::int8_t>
struct OnSteps {
  static constexpr bool kTakesNumbers = std::is_invocable_r_v<float, const Functor&, float>;
  static_assert(kTakesNumbers,
                "weft: OnSteps<F> takes an activation with `constexpr float operator()(float) "
                "const`; give one that looks at the channel or the coordinate its own scales");
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t>,
                "weft: OnSteps<F, T> takes T = std::int8_t or std::uint8_t, the bytes that F is "
                "applied to");
  float scale = 1.0f;       // the real value of a step
  float zero_point = 0.0f;  // of the bytes: an integer in the range of Type
  Functor activation{};
  constexpr float operator()(float x) const {
    if constexpr (kTakesNumbers) {
      constexpr auto kLeast = static_cast<float>((std::numeric_limits<Type>::min)());
      constexpr auto kMost = static_cast<float>((std::numeric_limits<Type>::max)());
      const float steps = Clamp(RoundFirst{}(x), kLeast - zero_point, kMost - zero_point);
      return activation(Mul(steps, scale));
    } else {
      return x;  // refused above
    }
  }
  constexpr const char* WrongNumber() const {
    constexpr auto kLeast = static_cast<float>((std::numeric_limits<Type>::min)());
    constexpr auto kMost = static_cast<float>((std::numeric_limits<Type>::max)());
    if (!(scale > 0.0f && scale <= (std::numeric_limits<float>::max)())) {
      return "scale of OnSteps is not a finite number above 0; give the real value of a step";
    }
    const bool inside = zero_point >= kLeast && zero_point <= kMost;
    if (!inside || zero_point != static_cast<float>(static_cast<int>(zero_point))) {
      return "zero_point of OnSteps is no value of its type; give an integer in that range";
    }
    return nullptr;
  }
};

}  // namespace weft::epilogues
