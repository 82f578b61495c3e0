// Activations: what happens to a value between the bias and the conversion to the output type.
//
// An activation is any copyable type with
//     constexpr float operator()(float x) const;
// or, when it needs to know where it is,
//     constexpr float operator()(float x, const weft::epilogues::OutputCoord& at) const;
// It carries no CUDA macro: the same function runs on both back ends, for which it must be
// constexpr together with all that it calls; Chain checks that. Data members are allowed if the
// whole stays trivially copyable; they are the `epilogue` argument of Run. Results are defined to
// the bit if the functor is: use the functions of numerics.hpp, or one operation per statement.
#pragma once

#include <cstdint>

#include "weft/epilogues/numerics.hpp"

namespace weft::epilogues {

// Where an output value lies: image n, output channel k, row p, column q. In a matrix product k is
// the column of C and q its row; n and p are 0.
struct OutputCoord {
  std::int64_t n = 0;
  std::int32_t k = 0;
  std::int32_t p = 0;
  std::int32_t q = 0;
};

struct Identity {
  constexpr float operator()(float x) const { return x; }
};

// max(x, 0); NaN and -0 give +0.
struct Relu {
  constexpr float operator()(float x) const { return x > 0.0f ? x : 0.0f; }
};

// x rounded to the nearest integer, halves to the even one. Before ClampTo, which then adds the zero
// point to an integer: what ONNX, TFLite and PyTorch do. ClampTo by itself rounds the sum, which
// differs for ties, and for numbers so close to one that adding the zero point makes them one.
// |x| above 2^22, from where on ClampTo saturates, may be off by a half. As the last activation before
// ClampTo it wants an args.zero_point that is an integer.
struct RoundFirst {
  constexpr float operator()(float x) const { return AndAdd(x, 0.0f); }
  // The same plus an integer of at most 2^22 in magnitude.
  static constexpr float AndAdd(float x, float integer) {
    constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: floats there are one apart
    return Add(Add(x, kMagic), integer - kMagic);
  }
};

// x limited to [low, high]; the limits are run-time values.
struct ClampRange {
  float low = 0.0f;
  float high = 6.0f;
  constexpr float operator()(float x) const { return Clamp(x, low, high); }
};

// x * min(max(x + 3, 0), 6) / 6 (Howard et al., "Searching for MobileNetV3", 2019), with the
// division done as a multiplication by the float nearest to 1/6; each operation rounds once: a = x
// + 3; b = clamp(a, 0, 6); c = x * b; result = c * (1/6).
struct HSwish {
  constexpr float operator()(float x) const {
    const float gate = Clamp(Add(x, 3.0f), 0.0f, 6.0f);
    return Mul(Mul(x, gate), 1.0f / 6.0f);
  }
};

}  // namespace weft::epilogues
