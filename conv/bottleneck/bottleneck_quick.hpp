// Quick ways from a bottleneck's sums to the same bytes, for the chains that networks have and for the
// numbers that they have. An epilogue takes most of the kernel's time.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "weft/epilogues/chain.hpp"

namespace weft::conv {

// Which chain it is: kBytes of Quantised bytes, kSteps of the sum of two quantised tensors.
enum class QuickChain { kNone, kBytes, kSteps };

namespace internal {

template <QuickChain kChainV, class Type = std::uint8_t>
struct FoundChain {
  static constexpr QuickChain kChain = kChainV;
  using Steps = epilogues::QuantizeSteps<Type>;
};
template <class Type>
FoundChain<QuickChain::kBytes, Type> QuickChainOf(
    const epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::RoundFirst,
                           epilogues::ClampTo<Type>>*);
template <class Type, class Other, bool kSumIsFirst, class Output>
FoundChain<QuickChain::kSteps, Type> QuickChainOf(
    const epilogues::Chain<epilogues::SumBias, epilogues::Scale, epilogues::QuantizeSteps<Type>,
                           epilogues::QuantizedAdd<Other, kSumIsFirst>,
                           epilogues::ClampTo<Output>>*);
FoundChain<QuickChain::kNone> QuickChainOf(const void*);

}  // namespace internal

// A channel's numbers. bias: that of the sum, of bytes with kWhole. limit: of steps the sum, with the
// bias, that makes the greatest integer, and of bytes kWhole. An addition of a register and a limit in
// another are one instruction; of numbers that the compiler knows they are two.
struct QuickValue {
  float alpha = 0.0f;
  std::int32_t bias = 0;
  std::int32_t limit = (std::numeric_limits<std::int32_t>::max)();
};

template <class Epilogue>
struct Quick {
  using Found = decltype(internal::QuickChainOf(static_cast<const Epilogue*>(nullptr)));
  static constexpr QuickChain kChain = Found::kChain;
  using Steps = typename Found::Steps;
  static constexpr bool kExists = kChain != QuickChain::kNone;

  // --- Bytes whose least integer stands for the real 0, as after a ReLU ---------------------------

  // With its bits below those of 2^23 a sum that is not negative is a float above it, which an fma
  // brings back and multiplies; a negative one is the least integer, as 0 is. A sum of 2^23 or more is
  // a float beyond what it stands for, and the greatest integer in either case.
  static constexpr std::int32_t kWhole = 0x4b000000;
  static constexpr float kWholeValue = 8388608.0f;

  static constexpr bool TakesBytes(float zero_point) { return zero_point == Steps::kLeast; }
  // Sets `limit` and adds to `bias`.
  static constexpr bool TakesBytes(QuickValue* v) {
    constexpr std::int32_t kMostBias = 1 << 29;
    const std::int32_t bias = v->bias;
    v->bias = Plus(bias, kWhole), v->limit = kWhole;
    return v->alpha >= 256.0f / kWholeValue && v->alpha <= 1e30f && bias <= kMostBias &&
           bias >= -kMostBias;
  }
  // The integer less the least one, to be rounded and limited at its greatest.
  static constexpr float ByteOf(std::int32_t sum, const QuickValue& v) {
    const std::int32_t bits = Plus(sum, v.bias);
    return epilogues::Fma(std::bit_cast<float>(bits > v.limit ? bits : v.limit), v.alpha,
                          epilogues::Mul(v.alpha, -kWholeValue));
  }

  // --- Integers in units of QuantizeSteps --------------------------------------------------------

  static constexpr bool TakesSteps(float zero_point) {
    return zero_point >= Steps::kLeast && zero_point <= Steps::kMost &&
           zero_point == static_cast<float>(static_cast<std::int32_t>(zero_point));
  }
  // Sets `limit`; false if no sum makes just the greatest integer, or greater sums make lesser ones.
  static constexpr bool TakesSteps(float zero_point, QuickValue* v) {
    if (!(v->alpha > 0.0f && v->alpha <= 1e30f)) return false;
    v->limit = epilogues::RoundHalfEven((Steps::kMost - zero_point) / v->alpha);
    const float steps = epilogues::Mul(v->alpha, static_cast<float>(v->limit));
    return v->limit == (std::numeric_limits<std::int32_t>::max)() ||
           epilogues::RoundFirst{}(steps) == Steps::kMost - zero_point;
  }
  static constexpr float UnitsOf(const Steps& steps, std::int32_t sum, const QuickValue& v) {
    const std::int32_t biased = Plus(sum, v.bias);
    const auto limited = static_cast<float>(biased < v.limit ? biased : v.limit);
    return steps.UnitsUpToMost(epilogues::Mul(v.alpha, limited));
  }

 private:
  static constexpr std::int32_t Plus(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  }
};

}  // namespace weft::conv
