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

// What the stages see of one accumulator: int32 sums of int8 products, float sums of the
// floating-point ones (for which float(acc) is acc itself), or double or complex sums, whose stages
// compute in that type.
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
  float channel_value = 0.0f;  // of the activation that has one for each channel
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
// |bias[k]| < 2^31 is enough; beyond, the sum wraps modulo 2^32, as one that starts from the bias.
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
// values x stand for x - zx: the sum is then that of (x - zx) w, and taps outside the image count as
// zx. args.source_correction, made by conv::MakeSourceCorrection, knows zx. Convolutions only.
struct SourceZeroPoint : internal::ZeroPointTag {};

// acc = acc - zw[k] * (sum of the source's values that meet the filter), in int32, for filters whose
// values w stand for w - zw[k]: args.filter_zero_point and, unless they are depthwise,
// args.window_sums. Convolutions only.
struct FilterZeroPoint : internal::ZeroPointTag {};

// The residual has the output's format.
struct SameAsDst {};

// As the first stage: t = gamma * float(residual). After an activation: t = fma(gamma, residual,
// t). The residual has the output's extents, elements of type Type, and format Format.
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
  using Layout = Format;
  static constexpr bool kHasZeroPoint = false;
};

// The same for a residual whose bytes r stand for r - zero_point: r less zero_point in float, which is exact for
// an integer of magnitude 2^15 or less, takes the place of float(residual).
template <class Type = std::int8_t, class Format = SameAsDst>
struct ResidualWithZeroPoint : Residual<Type, Format> {
  static_assert(std::is_same_v<Type, std::int8_t> || std::is_same_v<Type, std::uint8_t>,
                "weft: ResidualWithZeroPoint<T> takes T = std::int8_t or std::uint8_t");
  static constexpr bool kHasZeroPoint = true;
  float zero_point = 0.0f;
};

// t = t * (1 / args.output_scale): from real values to steps of a quantised output, behind the
// activations and what else is in real values, and before RoundFirst and the output stage. The
// inverse is rounded once, on the host, and the product once.
struct OutputScale : internal::OutputScaleTag {};

// Behind Scale and Bias: writes t as it is there, rounded to Type (float, Half or Bfloat16), to a
// second tensor of the output's extents, at `to`; t goes on unchanged. It has the output's format,
// zeros for the channels that fill its last block included, or is NHWC or NCHW. Convolutions only.
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
  Type* to = nullptr;  // 16-byte aligned; memory that the run can write, and nothing else uses

  static constexpr Type Convert(float t) {
    if constexpr (std::is_same_v<Type, float>) {
      return t;
    } else {
      return Type::FromFloat(t);
    }
  }
};

// Behind Scale and Bias: the least and the greatest t of each output channel, over all images and
// pixels, for calibration; t goes on unchanged. low[k] becomes the least of itself and of the
// channel's values, high[k] the greatest, whatever the order of blocks: set them to +infinity and
// -infinity before the first of several runs. NaN is passed over; -0 counts as 0. Convolutions
// only.
struct ChannelRange {
  float* low = nullptr;  // of the output's k, as high; memory that the run can write
  float* high = nullptr;
};

// Right before ClampTo<Type>: to[n][k] += the sum over all pixels of image n of output channel k's
// integers, as ClampTo makes them; exact, whatever the order of blocks. For global average pooling:
// conv::PooledAverage makes averages of the sums, and zeros for the next run. Convolutions only.
struct ImageSums : internal::SumsTag {
  std::int32_t* to = nullptr;  // n times k; memory that the run can write, zero before it
};
// The same instead of the output, which is not written: args.dst stays null.
struct OnlyImageSums : internal::SumsTag {
  std::int32_t* to = nullptr;
};

// The last stage: add args.zero_point, limit to [kLow, kHigh], round, convert to Type (int8 or uint8).
// Values halfway between two integers go where kRounding says. NaN counts as 0.
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

  // What rounding half to even makes the number that kRounding wants of t: mostly t.
  static constexpr float BeforeHalfEven(float t) {
    if constexpr (kRounding == Rounding::kHalfEven) {
      return t;
    } else {
      return RoundSmall<kRounding>(t);
    }
  }

  // Convert is Shift and BeforeHalfEven, then rounding half to even and saturation to Type: kernels
  // may then use the hardware's conversion.
  static constexpr bool kSaturates =
      kLow == (std::numeric_limits<Type>::min)() && kHigh == (std::numeric_limits<Type>::max)();
  template <class Sum>
  static constexpr float Shift(float t, const StageInputsOf<Sum>& in) {
    return Add(t, in.zero_point);
  }
};

// ClampTo<Type> that rounds otherwise than half to even.
template <class Type, Rounding kRounding>
using RoundedTo = ClampTo<Type, (std::numeric_limits<Type>::min)(),
                          (std::numeric_limits<Type>::max)(), kRounding>;

// The last stage: the value as it is, in float; it takes no zero point.
struct ToFloat : internal::OutputTag {
  using Element = float;
  template <class Sum>
  static constexpr float Convert(float t, const StageInputsOf<Sum>&) {
    return t;
  }
};

// The last stage: the value rounded to the nearest Type, halves to even: Half or Bfloat16
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

// The only stage of a chain that wants the sums as they are, but for a SumBias before it; Type is
// their type: std::int32_t, float, double or Complex. Of doubles and complex numbers [Residual<Type>] Scale
// may stand before it, and compute in Type: t = gamma * residual, t = MulAdd(alpha, acc, t), from t = 0 on.
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
