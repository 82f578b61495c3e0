// The built-in stages of an epilogue. Each says which run-time arguments it reads; chain.hpp puts
// them in order. See epilogues/README.md for the numerics contract.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "weft/epilogues/activations.hpp"
#include "weft/epilogues/numerics.hpp"
#include "weft/layouts/element/float16.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::epilogues {

// What the stages see of one accumulator, which is int32 for int8 products, float for
// floating-point ones (float(acc) is then acc itself), or double or complex, whose stages compute
// in that type.
template <class Sum>
struct StageInputsOf {
  using Value = std::conditional_t<kOwnArithmetic<Sum>, Sum, float>;
  Sum accumulator{};
  Sum sum_bias{};  // what SumBias and the zero points add; other biases are added in float
  Value alpha{1};
  float bias = 0.0f;
  Value residual{};
  float beta = 1.0f;
  Value gamma{1};
  float inverse_output_scale = 1.0f;  // 1 / args.output_scale
  float zero_point = 0.0f;
  float channel_value = 0.0f;  // of this channel, for the activation that has such values
};
using StageInputs = StageInputsOf<std::int32_t>;

namespace internal {
struct ScaleTag {};
struct BiasTag {};
struct ZeroPointTag {};
struct ResidualTag {};
struct OutputScaleTag {};
struct CopyTag {};
struct SumsTag {};
struct PoolTag {};
struct OutputTag {
  static constexpr bool kSaturates = false;
  static constexpr bool kOnlySums = false;
  static constexpr bool kAddsZeroPoint = false;
};
}  // namespace internal

// t = fma(alpha, float(acc), t). alpha is args.alpha, or args.channel_alpha[k] where that is given.
struct Scale : internal::ScaleTag {};

// t = fma(beta, float(bias[k]), t); one bias of type Type (float or int32) per output channel.
template <class Type = float>
struct Bias : internal::BiasTag {
  static_assert(std::is_same_v<Type, float> || std::is_same_v<Type, std::int32_t>,
                "weft: Bias<T> takes T = float or std::int32_t");
  using Element = Type;
};

// acc = acc + bias[k] in int32, before Scale: the bias of ONNX and TFLite, in units of the source's
// scale times the filter's. The caller keeps |acc| + |bias[k]| below 2^31, for which c r s 2^14 +
// |bias[k]| < 2^31 suffices; beyond, the accumulator wraps modulo 2^32, as if it had started from
// the bias.
struct SumBias : internal::BiasTag {
  using Element = std::int32_t;

  template <class Sum>
  static constexpr Sum Add(Sum accumulator, Sum bias) {
    static_assert(std::is_same_v<Sum, std::int32_t>,
                  "weft: SumBias adds to the int32 sums of int8 products; take Bias<float>");
    return static_cast<Sum>(static_cast<std::uint32_t>(accumulator) +
                            static_cast<std::uint32_t>(bias));
  }
};

// acc = acc - zx * (sum of the filter's values that meet the image), in int32, for a source whose
// values x stand for x - zx. The accumulator is then the sum of (x - zx) w, and taps outside the
// image count as zx. args.source_correction, which conv::MakeSourceCorrection makes, has zx.
// Convolutions only.
struct SourceZeroPoint : internal::ZeroPointTag {};

// acc = acc - zw[k] * (sum of the source's values that meet the filter), in int32, for filters
// whose values w stand for w - zw[k]. It reads args.filter_zero_point and, unless the convolution
// is depthwise, args.window_sums. Convolutions only.
struct FilterZeroPoint : internal::ZeroPointTag {};

// Stands for the output's format, of a residual or a copy.
struct SameAsDst {};

// As the first stage: t = gamma * float(residual); after an activation: t = fma(gamma, residual,
// t). The residual is a tensor of the output's extents, with elements of Type in format Format.
template <class Type = std::int8_t, class Format = SameAsDst>
struct Residual : internal::ResidualTag {
  static_assert(std::is_same_v<Type, float> || std::is_same_v<Type, std::int8_t> ||
                    std::is_same_v<Type, std::uint8_t> || std::is_same_v<Type, Half> ||
                    std::is_same_v<Type, Bfloat16> || kOwnArithmetic<Type>,
                "weft: Residual<T> takes T = std::int8_t, std::uint8_t, float, weft::Half or "
                "weft::Bfloat16, and before Scale and ToSums<T> double or weft::Complex");
  static_assert(std::is_same_v<Format, SameAsDst> || TensorFormat<Format>,
                "weft: Residual<T, Format> takes a tensor format (NCxHWx<x>, NHWC, NCHW), or none "
                "for the output's");
  using Element = Type;
  // A format that is refused above is not looked into by what follows.
  using Layout = std::conditional_t<TensorFormat<Format>, Format, SameAsDst>;
  static constexpr bool kHasZeroPoint = false;
};

// The same for a residual whose bytes r stand for r - zero_point: r - zero_point in float, which is
// exact for an integer zero_point of magnitude 2^15 or less, takes the place of float(residual).
template <class Type = std::int8_t, class Format = SameAsDst>
struct ResidualWithZeroPoint : Residual<Type, Format> {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t>,
                "weft: ResidualWithZeroPoint<T> takes T = std::int8_t or std::uint8_t");
  static constexpr bool kHasZeroPoint = true;
  float zero_point = 0.0f;
};

// t = t * (1 / args.output_scale): converts real values to steps of a quantised output. It stands
// behind all stages that work on real values, and before RoundFirst and the output stage. The
// inverse is rounded once, on the host, and the product once.
struct OutputScale : internal::OutputScaleTag {};

// Writes t as it is at this stage, behind Scale and Bias, rounded to Type (float, Half or
// Bfloat16), to a second tensor of the output's extents at `to`; t goes on unchanged. That tensor
// has the output's format, with zeros in the channels that fill its last block, or is NHWC or NCHW.
// Convolutions only.
template <class Type = float, class Format = SameAsDst>
struct Copy : internal::CopyTag {
  static_assert(std::is_same_v<Type, float> || std::is_same_v<Type, Half> ||
                    std::is_same_v<Type, Bfloat16>,
                "weft: Copy<T> takes T = float, weft::Half or weft::Bfloat16");
  static_assert(std::is_same_v<Format, SameAsDst> || std::is_same_v<Format, NHWC> ||
                    std::is_same_v<Format, NCHW>,
                "weft: Copy<T, Format> takes NHWC or NCHW, or no format for the output's");
  using Element = Type;
  using Layout = Format;
  Type* to = nullptr;  // 16-byte aligned; memory that the run can write, used by nothing else

  static constexpr Type Convert(float t) {
    if constexpr (std::is_same_v<Type, float>) {
      return t;
    } else {
      return Type::FromFloat(t);
    }
  }
};

// Finds the least and the greatest t of each output channel at this stage, behind Scale and Bias,
// over all images and pixels, for calibration; t goes on unchanged. low[k] becomes the least of
// itself and the channel's values, high[k] the greatest, whatever the order of blocks: set them to
// +infinity and -infinity before the first of several runs. NaN is passed over; -0 counts as 0.
// Convolutions only.
struct ChannelRange {
  // One float for each output channel k, in memory that the run can write.
  float* low = nullptr;
  float* high = nullptr;
};

// Right before ClampTo<Type>: adds to to[n][k] the sum, over all pixels of image n, of the integers
// that ClampTo makes for output channel k; it is exact, whatever the order of blocks. It is for
// global average pooling: conv::PooledAverage makes averages of the sums, and zeros for the next
// run. Convolutions only.
struct ImageSums : internal::SumsTag {
  std::int32_t* to = nullptr;  // [n][k], in memory that the run can write; zeros before it
};
// The same without the output, which is not written: args.dst stays null.
struct OnlyImageSums : internal::SumsTag {
  std::int32_t* to = nullptr;
};

// Right before ClampTo<Type>: the output has, of each channel, the greatest of the integers that ClampTo makes in each
// window of kSizeV x kSizeV pixels of the convolution, kStepV pixels apart in both directions, the first window
// kPaddingV pixels before the first pixel. Pixels outside are in no window. Convolutions of a first layer by
// wgmma_sm90 only.
template <int kSizeV, int kStepV, int kPaddingV = 0>
struct MaxPool : internal::PoolTag {
  static_assert(
      (kSizeV == 2 || kSizeV == 3) && kStepV == 2 && kPaddingV >= 0 && kPaddingV < kSizeV,
      "weft: MaxPool<size, step, padding> takes windows of size 2 or 3, a step of 2, and a "
      "padding less than the size");
  static constexpr int kSize = kSizeV, kStep = kStepV, kPadding = kPaddingV;
};

// The last stage: adds args.zero_point, limits to [kLow, kHigh], rounds, and converts to Type (int8
// or uint8). Values halfway between two integers go where kRounding says. NaN counts as 0.
template <class Type, int kLow = (std::numeric_limits<Type>::min)(),
          int kHigh = (std::numeric_limits<Type>::max)(), Rounding kRounding = Rounding::kHalfEven>
struct ClampTo : internal::OutputTag {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t>,
                "weft: ClampTo<T> takes T = std::int8_t or std::uint8_t; use ToFloat for float");
  static_assert(kLow <= kHigh && kLow >= (std::numeric_limits<Type>::min)() &&
                    kHigh <= (std::numeric_limits<Type>::max)(),
                "weft: ClampTo<T, low, high> needs low <= high, both within the range of T");
  using Element = Type;
  static constexpr Rounding kRounds = kRounding;
  static constexpr bool kAddsZeroPoint = true;

  template <class Sum>
  static constexpr Type Convert(float t, const StageInputsOf<Sum>& in) {
    const float shifted = Shift(t, in);
    const float number = shifted == shifted ? shifted : 0.0f;
    const float limited = Clamp(number, static_cast<float>(kLow), static_cast<float>(kHigh));
    return static_cast<Type>(RoundHalfEvenSmall(BeforeHalfEven(limited)));
  }

  // A number that rounds half to even to what kRounding makes of t; mostly t itself.
  static constexpr float BeforeHalfEven(float t) {
    if constexpr (kRounding == Rounding::kHalfEven) {
      return t;
    } else {
      return RoundSmall<kRounding>(t);
    }
  }

  // Convert is Shift and BeforeHalfEven, followed by rounding half to even and saturation to Type,
  // for which kernels may use the hardware's conversion.
  static constexpr bool kSaturates =
      kLow == (std::numeric_limits<Type>::min)() && kHigh == (std::numeric_limits<Type>::max)();
  template <class Sum>
  static constexpr float Shift(float t, const StageInputsOf<Sum>& in) {
    return Add(t, in.zero_point);
  }
};

// ClampTo<Type> with another rounding than half to even.
template <class Type, Rounding kRounding>
using RoundedTo = ClampTo<Type, (std::numeric_limits<Type>::min)(),
                          (std::numeric_limits<Type>::max)(), kRounding>;

// The last stage: the value as it is, in float; no zero point is added.
struct ToFloat : internal::OutputTag {
  using Element = float;
  template <class Sum>
  static constexpr float Convert(float t, const StageInputsOf<Sum>&) {
    return t;
  }
};

// The last stage: the value rounded to the nearest Type, halves to even. Type is Half or Bfloat16
// (layouts/element/float16.hpp), or std::int32_t, which saturates and where NaN counts as 0.
template <class Type>
struct RoundTo : internal::OutputTag {
  static_assert(std::is_same_v<Type, Half> || std::is_same_v<Type, Bfloat16> ||
                    std::is_same_v<Type, std::int32_t>,
                "weft: RoundTo<T> takes T = weft::Half, weft::Bfloat16 or std::int32_t");
  using Element = Type;
  template <class Sum>
  static constexpr Type Convert(float t, const StageInputsOf<Sum>&) {
    if constexpr (std::is_same_v<Type, std::int32_t>) {
      return RoundHalfEven(t);
    } else {
      return Type::FromFloat(t);
    }
  }
};

// Writes the accumulators as they are; Type is their type: std::int32_t, float, double or Complex.
// No other stage may stand in the chain except SumBias and zero points and, for doubles and complex
// numbers, [Residual<Type>] Scale, which compute in Type: t = gamma * residual, t = MulAdd(alpha,
// acc, t), from t = 0 on.
template <class Type>
struct ToSums : internal::OutputTag {
  static constexpr bool kOnlySums = true;
  using Element = Type;
  template <class Sum>
  static constexpr Type Convert(float, const StageInputsOf<Sum>& in) {
    static_assert(std::is_same_v<Type, Sum>,
                  "weft: ToSums<T> takes the type of the operator's sums");
    return in.accumulator;
  }
};
using ToAccumulator = ToSums<std::int32_t>;  // the exact sums of int8 products

}  // namespace weft::epilogues
