// What needs registers alone, of one thread: bytes packed, permuted and multiplied, products of
// vectors. Base of Thread.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

struct DotThread {
  // Four floats as bytes of type Value (int8_t or uint8_t), v[0] lowest: rounded half to even, limited
  // to Value's range, NaN as 0. kMaximum: whether v may be the results of max(x, 0).
  template <class Value, bool kMaximum = true>
  WEFT_DEVICE static uint32_t PackSaturated(const float (&v)[4]) {
    uint32_t high, word;
    if constexpr (static_cast<Value>(-1) < static_cast<Value>(0)) {
      asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
          : "=r"(high)
          : "r"(__float2int_rn(v[3])), "r"(__float2int_rn(v[2])), "r"(0));
      asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
          : "=r"(word)
          : "r"(__float2int_rn(v[1])), "r"(__float2int_rn(v[0])), "r"(high));
    } else {
      // ptxas 13.0 makes one F2IP.U8.F32.NTZ.RELU of a maximum with 0 and what follows here, and an
      // H200 calls that an illegal instruction. Another maximum between them changes no result.
      float apart[4] = {v[0], v[1], v[2], v[3]};
      if constexpr (kMaximum) {
        for (int i = 0; i < 4; ++i) asm("max.f32 %0, %1, 0fBF800000;" : "=f"(apart[i]) : "f"(v[i]));
      }
      asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
          : "=r"(high)
          : "r"(__float2int_rn(apart[3])), "r"(__float2int_rn(apart[2])), "r"(0));
      asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
          : "=r"(word)
          : "r"(__float2int_rn(apart[1])), "r"(__float2int_rn(apart[0])), "r"(high));
    }
    return word;
  }

  // Byte v (0 to 3) of a word, of type Value (int8_t or uint8_t), as a float. One permutation makes an
  // integer of it, whose conversion has four times the rate of a byte's. In a selector 8 + v is the sign
  // of byte v, which __byte_perm does not know.
  template <class Value>
  WEFT_DEVICE static float ByteToFloat(uint32_t word, int v) {
    constexpr bool kSigned = static_cast<Value>(-1) < static_cast<Value>(0);
    const auto byte = static_cast<uint32_t>(v);
    uint32_t integer;
    asm("prmt.b32 %0, %1, 0, %2;"
        : "=r"(integer)
        : "r"(word), "r"(kSigned ? 0x8880u + 0x1111u * byte : 0x4440u + byte));
    if constexpr (kSigned) return __int2float_rn(static_cast<int>(integer));
    return __uint2float_rn(integer);
  }

  // Byte v of a word of uint8 as a float, times kByteUnit: a byte in the lower half of 16 bits is that
  // subnormal half. Two bytes take one instruction before their conversions.
  static constexpr float kByteUnit = 1.0f / 16777216.0f;
  WEFT_DEVICE static float ByteToUnits(uint32_t word, int v) {
    const uint32_t halves = v % 2 == 0 ? word & 0x00ff00ffu : __byte_perm(word, 0, 0x4341);
    float value;
    if (v < 2) {
      asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }"
          : "=f"(value)
          : "r"(halves));
    } else {
      asm("{ .reg .b16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }"
          : "=f"(value)
          : "r"(halves));
    }
    return value;
  }

  WEFT_DEVICE static int32_t Dp4a(uint32_t a, uint32_t b, int32_t c) {
    return __dp4a(static_cast<int>(a), static_cast<int>(b), c);
  }
  // The bytes of a are unsigned.
  WEFT_DEVICE static int32_t Dp4aU8S8(uint32_t a, uint32_t b, int32_t c) {
    int32_t d;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
  }

  // acc[i][j] += a[i] . b[j]; kUnsignedA: of Dp4aU8S8.
  template <bool kUnsignedA = false, int kM, int kN>
  WEFT_DEVICE static void Dp4aOuter(int32_t (&acc)[kM][kN], const uint32_t (&a)[kM],
                                    const uint32_t (&b)[kN]) {
    WEFT_UNROLL
    for (int i = 0; i < kM; ++i) {
      WEFT_UNROLL
      for (int j = 0; j < kN; ++j) {
        if constexpr (kUnsignedA) {
          acc[i][j] = Dp4aU8S8(a[i], b[j], acc[i][j]);
        } else {
          acc[i][j] = Dp4a(a[i], b[j], acc[i][j]);
        }
      }
    }
  }

  // acc[i][j] = fma(a[i], b[j], acc[i][j]), one rounding. Value is float or double, or
  // Complex of them: weft::MulAdd.
  //
  // Wide products go along the rows, forth and back: ptxas keeps to that order, and a product that
  // finds an operand in the cache of the previous one's needs fewer ports of the register file.
  template <class Value, int kM, int kN>
  WEFT_DEVICE static void FmaOuter(Value (&acc)[kM][kN], const Value (&a)[kM],
                                   const Value (&b)[kN]) {
    WEFT_UNROLL
    for (int n = 0; n < kM * kN; ++n) {
      const int i = n / kN;
      const int j = kN > kM && i % 2 == 1 ? kN - 1 - n % kN : n % kN;
      if constexpr (std::is_same_v<Value, float>) {
        acc[i][j] = __fmaf_rn(a[i], b[j], acc[i][j]);
      } else if constexpr (kIsComplex<Value>) {
        acc[i][j] = MulAdd(a[i], b[j], acc[i][j]);
      } else {
        acc[i][j] = __fma_rn(a[i], b[j], acc[i][j]);
      }
    }
  }

  // The bytes of a, then those of b, numbered 0 to 7: byte i of the result is the one that the low
  // 3 bits of the selector's i-th hexadecimal digit name.
  WEFT_DEVICE static uint32_t BytePermute(uint32_t a, uint32_t b, uint32_t selector) {
    return __byte_perm(a, b, selector);
  }

  // The greater of each two numbers of 16 bits, of which a word has two.
  template <bool kSigned = false>
  WEFT_DEVICE static uint32_t MaxPairs(uint32_t a, uint32_t b) {
    if constexpr (kSigned) return __vmaxs2(a, b);
    return __vmaxu2(a, b);
  }

  // a - b of two Values side by side, Half or Bfloat16 (from sm_90 on), each rounded to a Value.
  template <class Value>
  WEFT_DEVICE static uint32_t SubPairs(uint32_t a, uint32_t b) {
    uint32_t d;
    if constexpr (std::is_same_v<Value, Half>) {
      asm("sub.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    } else {
      static_assert(std::is_same_v<Value, Bfloat16>);
      asm("sub.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    }
    return d;
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
