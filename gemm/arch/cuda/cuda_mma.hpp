// The warp-wide matrix products of the CUDA back end, d = a * b + c (fragments.hpp says who holds
// what); a part of cuda_thread.hpp's Thread.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/int4_products.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

// Of the GPU being compiled for; declarations do not depend on it.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
inline constexpr bool kBefore90 = true;
#else
inline constexpr bool kBefore90 = false;
#endif

struct MmaThread {
  // Of signed bytes; U8S8: a's are unsigned. m16n8k32: sm_80, m8n8k16: sm_75.

#define WEFT_INTEGER_PRODUCTS(WIDE, WIDE_SHAPE, NARROW, NARROW_SHAPE, TYPES)                       \
  WEFT_DEVICE static void WIDE(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],    \
                               const int32_t (&c)[4]) {                                            \
    asm volatile("mma.sync.aligned." WIDE_SHAPE ".row.col.s32." TYPES                              \
                 ".s32 "                                                                           \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"             \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]),    \
                   "r"(c[1]), "r"(c[2]), "r"(c[3]));                                               \
  }                                                                                                \
  WEFT_DEVICE static void NARROW(int32_t (&d)[2], uint32_t a, uint32_t b, const int32_t (&c)[2]) { \
    asm volatile("mma.sync.aligned." NARROW_SHAPE ".row.col.s32." TYPES                            \
                 ".s32 {%0, %1}, {%2}, {%3}, {%4, %5};"                                            \
                 : "=r"(d[0]), "=r"(d[1])                                                          \
                 : "r"(a), "r"(b), "r"(c[0]), "r"(c[1]));                                          \
  }
  WEFT_INTEGER_PRODUCTS(MmaM16N8K32S8, "m16n8k32", MmaM8N8K16S8, "m8n8k16", "s8.s8")
  WEFT_INTEGER_PRODUCTS(MmaM16N8K32U8S8, "m16n8k32", MmaM8N8K16U8S8, "m8n8k16", "u8.s8")

  // Of four bits each, S4 and U4S4, two to a byte, whose places are those of the bytes above: m16n8k64
  // and m8n8k32. From sm_90 on tensor cores have none, and what ptxas makes instead is a function of
  // hundreds of instructions.

 private:
  WEFT_INTEGER_PRODUCTS(MmaM16N8K64S4OfTensorCore, "m16n8k64", MmaM8N8K32S4OfTensorCore, "m8n8k32",
                        "s4.s4")
  WEFT_INTEGER_PRODUCTS(MmaM16N8K64U4S4OfTensorCore, "m16n8k64", MmaM8N8K32U4S4OfTensorCore,
                        "m8n8k32", "u4.s4")

 public:
#undef WEFT_INTEGER_PRODUCTS
#define WEFT_INT4_PRODUCTS(WIDE, WIDE_BYTES, NARROW, NARROW_BYTES, UNSIGNED)                       \
  WEFT_DEVICE static void WIDE(int32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],    \
                               const int32_t (&c)[4]) {                                            \
    if constexpr (kBefore90) {                                                                     \
      WIDE##OfTensorCore(d, a, b, c);                                                              \
    } else {                                                                                       \
      const auto mma = [](auto& to, const auto& x, const auto& y, const auto& sum) {               \
        WIDE_BYTES(to, x, y, sum);                                                                 \
      };                                                                                           \
      MmaOfHalves<UNSIGNED>(mma, d, a, b, c);                                                      \
    }                                                                                              \
  }                                                                                                \
  WEFT_DEVICE static void NARROW(int32_t (&d)[2], uint32_t a, uint32_t b, const int32_t (&c)[2]) { \
    if constexpr (kBefore90) {                                                                     \
      NARROW##OfTensorCore(d, a, b, c);                                                            \
    } else {                                                                                       \
      const auto mma = [](auto& to, const auto& x, const auto& y, const auto& sum) {               \
        NARROW_BYTES(to, x[0], y[0], sum);                                                         \
      };                                                                                           \
      MmaOfHalves<UNSIGNED>(mma, d, {a}, {b}, c);                                                  \
    }                                                                                              \
  }
  WEFT_INT4_PRODUCTS(MmaM16N8K64S4, MmaM16N8K32S8, MmaM8N8K32S4, MmaM8N8K16S8, false)
  WEFT_INT4_PRODUCTS(MmaM16N8K64U4S4, MmaM16N8K32U8S8, MmaM8N8K32U4S4, MmaM8N8K16U8S8, true)
#undef WEFT_INT4_PRODUCTS

  // f16 or bf16 operands, float sums. The hardware's order of summation and its intermediate
  // rounding are its own: results are not defined to the bit. sm_80.
  //
  // Of tf32, floats whose lower 13 bits are not read: sm_80. Of 8-bit floats: sm_89, and from sm_90 on
  // ptxas makes halves of them first.
#define WEFT_FLOAT_PRODUCTS(NAME, SHAPE, TYPES)                                                 \
  WEFT_DEVICE static void NAME(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],   \
                               const float (&c)[4]) {                                           \
    asm volatile("mma.sync.aligned." SHAPE ".row.col.f32." TYPES                                \
                 ".f32 "                                                                        \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"          \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                               \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), \
                   "f"(c[1]), "f"(c[2]), "f"(c[3]));                                            \
  }
  WEFT_FLOAT_PRODUCTS(MmaM16N8K16F16, "m16n8k16", "f16.f16")
  WEFT_FLOAT_PRODUCTS(MmaM16N8K16Bf16, "m16n8k16", "bf16.bf16")
  WEFT_FLOAT_PRODUCTS(MmaM16N8K8Tf32, "m16n8k8", "tf32.tf32")
  WEFT_FLOAT_PRODUCTS(MmaM16N8K32E4m3, "m16n8k32", "e4m3.e4m3")
  WEFT_FLOAT_PRODUCTS(MmaM16N8K32E5m2, "m16n8k32", "e5m2.e5m2")
#undef WEFT_FLOAT_PRODUCTS
  // Half as many k, sm_75.
  WEFT_DEVICE static void MmaM16N8K8F16(float (&d)[4], const uint32_t (&a)[2],
                                        const uint32_t (&b)[1], const float (&c)[4]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
  }
  // f16 operands and sums, two to a word of c and d. Not defined to the bit either. sm_80.
  WEFT_DEVICE static void MmaM16N8K16F16HalfSums(uint32_t (&d)[2], const uint32_t (&a)[4],
                                                 const uint32_t (&b)[2], const uint32_t (&c)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
        : "=r"(d[0]), "=r"(d[1])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
  }
  // Doubles. The hardware's order of summation is not documented. sm_80, which has m8n8k4: four of
  // them, the lower k first; sm_90 reaches its rate with larger ones alone.
  WEFT_DEVICE static void MmaM16N8K8F64(double (&d)[4], const double (&a)[4], const double (&b)[2],
                                        const double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    double half[4];
    WEFT_UNROLL
    for (int row = 0; row < 2; ++row) {
      MmaM8N8K4F64(half[2 * row], half[2 * row + 1], a[row], b[0], c[2 * row], c[2 * row + 1]);
    }
    WEFT_UNROLL
    for (int row = 0; row < 2; ++row) {
      MmaM8N8K4F64(d[2 * row], d[2 * row + 1], a[2 + row], b[1], half[2 * row], half[2 * row + 1]);
    }
#else
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]),
          "d"(c[2]), "d"(c[3]));
#endif
  }

 private:
  WEFT_DEVICE static void MmaM8N8K4F64(double& d0, double& d1, double a, double b, double c0,
                                       double c1) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(d0), "=d"(d1)
                 : "d"(a), "d"(b), "d"(c0), "d"(c1));
  }
};

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
