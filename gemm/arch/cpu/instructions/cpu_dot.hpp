// Dot products of bytes, the hot loop of every CPU run, and what else of arch::Thread works on words of registers
// alone.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/cpu/instructions/cpu_collectives.hpp"
#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/layouts/base/compiler.hpp"

namespace weft::arch::cpu {

// The most words a call may sum over.
inline constexpr int kMostWords = 8;

// Which operands' bytes are signed.
enum class DotSigns { kBoth, kOnlyA, kOnlyB };

// c[i * n + j] += sum over w < words of the dot product of the four bytes of a[w * m + i] and of
// b[w * n + j]; sums wrap around. `words` is at most kMostWords.
void AddDotProducts(DotSigns signs, int32_t* c, const uint32_t* a, const uint32_t* b, int m, int n,
                    int words);

// The same with given means, for tests: each gives the same result.
enum class DotMeans {
  kPlain,     // C++
  kPairs128,  // multiply-add of pairs in 128 bits: every x86-64
  kPairs256,  // in 256 bits: AVX2
};
bool IsAvailable(DotMeans means);
void AddDotProducts(DotMeans means, DotSigns signs, int32_t* c, const uint32_t* a,
                    const uint32_t* b, int m, int n, int words);

}  // namespace weft::arch::cpu

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct DotThread {
  // --- Dot products of four bytes ---------------------------------------------------------------

  // Four floats as bytes of type Value (int8_t or uint8_t), v[0] lowest: rounded half to even, limited
  // to Value's range, NaN as 0. kMaximum: whether v may be the results of max(x, 0).
  template <class Value, bool kMaximum = true>
  static uint32_t PackSaturated(const float (&v)[4]) {
    constexpr bool kSigned = static_cast<Value>(-1) < static_cast<Value>(0);
    constexpr float kLow = kSigned ? -128.0f : 0.0f, kHigh = kSigned ? 127.0f : 255.0f;
    constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: floats there are one apart
    uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
      float x = v[i] == v[i] ? v[i] : 0.0f;
      x = x > kLow ? x : kLow;
      x = x < kHigh ? x : kHigh;
      word |= (std::bit_cast<uint32_t>(x + kMagic) & 0xffu) << (8 * i);
    }
    return word;
  }

  // Byte v (0 to 3) of a word, of type Value (int8_t or uint8_t), as a float.
  template <class Value>
  static float ByteToFloat(uint32_t word, int v) {
    return static_cast<float>(static_cast<Value>(word >> (8 * v)));
  }

  // Byte v of a word of uint8 as a float, times kByteUnit.
  static constexpr float kByteUnit = 1.0f / 16777216.0f;
  static float ByteToUnits(uint32_t word, int v) {
    return kByteUnit * static_cast<float>(word >> (8 * v) & 0xffu);
  }

  static int32_t Dp4a(uint32_t a, uint32_t b, int32_t c) {
    cpu::Dp4aOuter(false, &c, &a, &b, 1, 1);
    return c;
  }
  // The bytes of a are unsigned.
  static int32_t Dp4aU8S8(uint32_t a, uint32_t b, int32_t c) {
    cpu::Dp4aOuter(true, &c, &a, &b, 1, 1);
    return c;
  }

  // acc[i][j] += a[i] . b[j]; kUnsignedA: of Dp4aU8S8.
  template <bool kUnsignedA = false, int kM, int kN>
  static void Dp4aOuter(int32_t (&acc)[kM][kN], const uint32_t (&a)[kM], const uint32_t (&b)[kN]) {
    cpu::Dp4aOuter(kUnsignedA, &acc[0][0], a, b, kM, kN);
  }

  // acc[i][j] = fma(a[i], b[j], acc[i][j]), one rounding. Value is float or double, or
  // Complex of them: weft::MulAdd.
  template <class Value, int kM, int kN>
  static void FmaOuter(Value (&acc)[kM][kN], const Value (&a)[kM], const Value (&b)[kN]) {
    cpu::FmaOuter(&acc[0][0], a, b, kM, kN);
  }

  // The bytes of a, then those of b, numbered 0 to 7: byte i of the result is the one that the low
  // 3 bits of the selector's i-th hexadecimal digit name.
  static uint32_t BytePermute(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      result |= static_cast<uint32_t>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    }
    return result;
  }

  // The greater of each two numbers of 16 bits, of which a word has two.
  template <bool kSigned = false>
  static uint32_t MaxPairs(uint32_t a, uint32_t b) {
    using Number = std::conditional_t<kSigned, int16_t, uint16_t>;
    const auto greater = [&](int shift) {
      const auto x = static_cast<Number>(a >> shift), y = static_cast<Number>(b >> shift);
      return uint32_t{static_cast<uint16_t>(x > y ? x : y)} << shift;
    };
    return greater(16) | greater(0);
  }

  // a - b of two Values side by side, Half or Bfloat16, each rounded to a Value.
  template <class Value>
  static uint32_t SubPairs(uint32_t a, uint32_t b) {
    const auto sub = [&](int shift) {
      const Value x = Value::FromBits(static_cast<uint16_t>(a >> shift));
      const Value y = Value::FromBits(static_cast<uint16_t>(b >> shift));
      return uint32_t{Value::FromFloat(x.ToFloat() - y.ToFloat()).bits} << shift;
    };
    return sub(0) | sub(16);
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
