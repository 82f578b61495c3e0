// The PTX of warpgroup products: one instruction for each element type and N.
//
// An asm statement has to spell out its operands, here up to 128 sums. So the lists are macros that
// grow from N to N, and one macro makes the instructions of a type from them.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/gemm/arch/isa/wgmma.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

// Issue(d, descriptor of a, descriptor of b, whether to add to d): see Thread::WgmmaS8 and so on.
template <WgmmaType kType, int kN>
struct WgmmaInstruction;
// The same with a in registers.
template <WgmmaType kType, int kN>
struct WgmmaRsInstruction;

// clang-format off

// The N / 2 sums in the text, and as operands with the constraint c.
#define WEFT_WGMMA_LIST_8 "%0, %1, %2, %3"
#define WEFT_WGMMA_LIST_16 WEFT_WGMMA_LIST_8 ", %4, %5, %6, %7"
#define WEFT_WGMMA_LIST_24 WEFT_WGMMA_LIST_16 ", %8, %9, %10, %11"
#define WEFT_WGMMA_LIST_32 WEFT_WGMMA_LIST_24 ", %12, %13, %14, %15"
#define WEFT_WGMMA_LIST_48 WEFT_WGMMA_LIST_32 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define WEFT_WGMMA_LIST_64 WEFT_WGMMA_LIST_48 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define WEFT_WGMMA_LIST_80 WEFT_WGMMA_LIST_64 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WEFT_WGMMA_LIST_96 WEFT_WGMMA_LIST_80 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WEFT_WGMMA_LIST_112 WEFT_WGMMA_LIST_96 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WEFT_WGMMA_LIST_128 WEFT_WGMMA_LIST_112 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define WEFT_WGMMA_LIST_144 WEFT_WGMMA_LIST_128 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define WEFT_WGMMA_LIST_160 WEFT_WGMMA_LIST_144 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define WEFT_WGMMA_LIST_176 WEFT_WGMMA_LIST_160 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define WEFT_WGMMA_LIST_192 WEFT_WGMMA_LIST_176 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define WEFT_WGMMA_LIST_208 WEFT_WGMMA_LIST_192 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define WEFT_WGMMA_LIST_224 WEFT_WGMMA_LIST_208 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define WEFT_WGMMA_LIST_240 WEFT_WGMMA_LIST_224 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define WEFT_WGMMA_LIST_256 WEFT_WGMMA_LIST_240 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define WEFT_WGMMA_SUMS_8(c) c(d[0]), c(d[1]), c(d[2]), c(d[3])
#define WEFT_WGMMA_SUMS_16(c) WEFT_WGMMA_SUMS_8(c), c(d[4]), c(d[5]), c(d[6]), c(d[7])
#define WEFT_WGMMA_SUMS_24(c) WEFT_WGMMA_SUMS_16(c), c(d[8]), c(d[9]), c(d[10]), c(d[11])
#define WEFT_WGMMA_SUMS_32(c) WEFT_WGMMA_SUMS_24(c), c(d[12]), c(d[13]), c(d[14]), c(d[15])
#define WEFT_WGMMA_SUMS_48(c) WEFT_WGMMA_SUMS_32(c), c(d[16]), c(d[17]), c(d[18]), c(d[19]), \
    c(d[20]), c(d[21]), c(d[22]), c(d[23])
#define WEFT_WGMMA_SUMS_64(c) WEFT_WGMMA_SUMS_48(c), c(d[24]), c(d[25]), c(d[26]), c(d[27]), \
    c(d[28]), c(d[29]), c(d[30]), c(d[31])
#define WEFT_WGMMA_SUMS_80(c) WEFT_WGMMA_SUMS_64(c), c(d[32]), c(d[33]), c(d[34]), c(d[35]), \
    c(d[36]), c(d[37]), c(d[38]), c(d[39])
#define WEFT_WGMMA_SUMS_96(c) WEFT_WGMMA_SUMS_80(c), c(d[40]), c(d[41]), c(d[42]), c(d[43]), \
    c(d[44]), c(d[45]), c(d[46]), c(d[47])
#define WEFT_WGMMA_SUMS_112(c) WEFT_WGMMA_SUMS_96(c), c(d[48]), c(d[49]), c(d[50]), c(d[51]), \
    c(d[52]), c(d[53]), c(d[54]), c(d[55])
#define WEFT_WGMMA_SUMS_128(c) WEFT_WGMMA_SUMS_112(c), c(d[56]), c(d[57]), c(d[58]), c(d[59]), \
    c(d[60]), c(d[61]), c(d[62]), c(d[63])
#define WEFT_WGMMA_SUMS_144(c) WEFT_WGMMA_SUMS_128(c), c(d[64]), c(d[65]), c(d[66]), c(d[67]), \
    c(d[68]), c(d[69]), c(d[70]), c(d[71])
#define WEFT_WGMMA_SUMS_160(c) WEFT_WGMMA_SUMS_144(c), c(d[72]), c(d[73]), c(d[74]), c(d[75]), \
    c(d[76]), c(d[77]), c(d[78]), c(d[79])
#define WEFT_WGMMA_SUMS_176(c) WEFT_WGMMA_SUMS_160(c), c(d[80]), c(d[81]), c(d[82]), c(d[83]), \
    c(d[84]), c(d[85]), c(d[86]), c(d[87])
#define WEFT_WGMMA_SUMS_192(c) WEFT_WGMMA_SUMS_176(c), c(d[88]), c(d[89]), c(d[90]), c(d[91]), \
    c(d[92]), c(d[93]), c(d[94]), c(d[95])
#define WEFT_WGMMA_SUMS_208(c) WEFT_WGMMA_SUMS_192(c), c(d[96]), c(d[97]), c(d[98]), c(d[99]), \
    c(d[100]), c(d[101]), c(d[102]), c(d[103])
#define WEFT_WGMMA_SUMS_224(c) WEFT_WGMMA_SUMS_208(c), c(d[104]), c(d[105]), c(d[106]), \
    c(d[107]), c(d[108]), c(d[109]), c(d[110]), c(d[111])
#define WEFT_WGMMA_SUMS_240(c) WEFT_WGMMA_SUMS_224(c), c(d[112]), c(d[113]), c(d[114]), \
    c(d[115]), c(d[116]), c(d[117]), c(d[118]), c(d[119])
#define WEFT_WGMMA_SUMS_256(c) WEFT_WGMMA_SUMS_240(c), c(d[120]), c(d[121]), c(d[122]), \
    c(d[123]), c(d[124]), c(d[125]), c(d[126]), c(d[127])

// X(N, and the numbers of the operands that follow the sums: both descriptors, the flag, and for
// 16-bit types whether a and b are MN-major).
#define WEFT_WGMMA_EACH_N(X) \
  X(8, 4, 5, 6, 7, 8) \
  X(16, 8, 9, 10, 11, 12) \
  X(24, 12, 13, 14, 15, 16) \
  X(32, 16, 17, 18, 19, 20) \
  X(48, 24, 25, 26, 27, 28) \
  X(64, 32, 33, 34, 35, 36) \
  X(80, 40, 41, 42, 43, 44) \
  X(96, 48, 49, 50, 51, 52) \
  X(112, 56, 57, 58, 59, 60) \
  X(128, 64, 65, 66, 67, 68) \
  X(144, 72, 73, 74, 75, 76) \
  X(160, 80, 81, 82, 83, 84) \
  X(176, 88, 89, 90, 91, 92) \
  X(192, 96, 97, 98, 99, 100) \
  X(208, 104, 105, 106, 107, 108) \
  X(224, 112, 113, 114, 115, 116) \
  X(240, 120, 121, 122, 123, 124) \
  X(256, 128, 129, 130, 131, 132)

// Of products whose a is in registers: X(N, the numbers of those four, b's descriptor, the flag, and
// whether b is MN-major).
#define WEFT_WGMMA_EACH_RS_N(X) \
  X(8, 4, 5, 6, 7, 8, 9, 10) \
  X(16, 8, 9, 10, 11, 12, 13, 14) \
  X(24, 12, 13, 14, 15, 16, 17, 18) \
  X(32, 16, 17, 18, 19, 20, 21, 22) \
  X(48, 24, 25, 26, 27, 28, 29, 30) \
  X(64, 32, 33, 34, 35, 36, 37, 38) \
  X(80, 40, 41, 42, 43, 44, 45, 46) \
  X(96, 48, 49, 50, 51, 52, 53, 54) \
  X(112, 56, 57, 58, 59, 60, 61, 62) \
  X(128, 64, 65, 66, 67, 68, 69, 70) \
  X(144, 72, 73, 74, 75, 76, 77, 78) \
  X(160, 80, 81, 82, 83, 84, 85, 86) \
  X(176, 88, 89, 90, 91, 92, 93, 94) \
  X(192, 96, 97, 98, 99, 100, 101, 102) \
  X(208, 104, 105, 106, 107, 108, 109, 110) \
  X(224, 112, 113, 114, 115, 116, 117, 118) \
  X(240, 120, 121, 122, 123, 124, 125, 126) \
  X(256, 128, 129, 130, 131, 132, 133, 134)

// clang-format on

#define WEFT_WGMMA_TEXT(N, A, B, P, TYPES, TAIL)                                           \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %" #P                                                  \
  ", 0;\n"                                                                                 \
  "wgmma.mma_async.sync.aligned.m64n" #N TYPES " {" WEFT_WGMMA_LIST_##N "}, %" #A ", %" #B \
                                                                        ", p" TAIL ";\n}"

#define WEFT_WGMMA_BYTES(TYPE, TYPES, N, A, B, P)                                                \
  template <>                                                                                    \
  struct WgmmaInstruction<WgmmaType::TYPE, N> {                                                  \
    WEFT_DEVICE static void Issue(int32_t (&d)[N / 2], uint64_t a, uint64_t b, int accumulate) { \
      asm volatile(WEFT_WGMMA_TEXT(N, A, B, P, TYPES, "")                                        \
                   : WEFT_WGMMA_SUMS_##N("+r")                                                   \
                   : "l"(a), "l"(b), "r"(accumulate));                                           \
    }                                                                                            \
  };
#define WEFT_WGMMA_S8(N, A, B, P, TA, TB) WEFT_WGMMA_BYTES(kS8, "k32.s32.s8.s8", N, A, B, P)
#define WEFT_WGMMA_S8U8(N, A, B, P, TA, TB) WEFT_WGMMA_BYTES(kS8U8, "k32.s32.s8.u8", N, A, B, P)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_S8)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_S8U8)
#undef WEFT_WGMMA_S8
#undef WEFT_WGMMA_S8U8
#undef WEFT_WGMMA_BYTES

#define WEFT_WGMMA_FLOAT(TYPE, TYPES, N, A, B, P)                                              \
  template <>                                                                                  \
  struct WgmmaInstruction<WgmmaType::TYPE, N> {                                                \
    WEFT_DEVICE static void Issue(float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate) { \
      asm volatile(WEFT_WGMMA_TEXT(N, A, B, P, TYPES, ", 1, 1")                                \
                   : WEFT_WGMMA_SUMS_##N("+f")                                                 \
                   : "l"(a), "l"(b), "r"(accumulate));                                         \
    }                                                                                          \
  };
#define WEFT_WGMMA_TF32(N, A, B, P, TA, TB) WEFT_WGMMA_FLOAT(kTf32, "k8.f32.tf32.tf32", N, A, B, P)
#define WEFT_WGMMA_E4M3(N, A, B, P, TA, TB) WEFT_WGMMA_FLOAT(kE4m3, "k32.f32.e4m3.e4m3", N, A, B, P)
#define WEFT_WGMMA_E5M2(N, A, B, P, TA, TB) WEFT_WGMMA_FLOAT(kE5m2, "k32.f32.e5m2.e5m2", N, A, B, P)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_TF32)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_E4M3)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_E5M2)
#undef WEFT_WGMMA_TF32
#undef WEFT_WGMMA_E4M3
#undef WEFT_WGMMA_E5M2
#undef WEFT_WGMMA_FLOAT

#define WEFT_WGMMA_HALF(TYPE, TYPES, N, A, B, P, TA, TB)                                       \
  template <>                                                                                  \
  struct WgmmaInstruction<WgmmaType::TYPE, N> {                                                \
    template <bool kAMnMajor, bool kBMnMajor>                                                  \
    WEFT_DEVICE static void Issue(float (&d)[N / 2], uint64_t a, uint64_t b, int accumulate) { \
      asm volatile(WEFT_WGMMA_TEXT(N, A, B, P, TYPES, ", 1, 1, %" #TA ", %" #TB)               \
                   : WEFT_WGMMA_SUMS_##N("+f")                                                 \
                   : "l"(a), "l"(b), "r"(accumulate), "n"(kAMnMajor), "n"(kBMnMajor));         \
    }                                                                                          \
  };
#define WEFT_WGMMA_F16(N, A, B, P, TA, TB) \
  WEFT_WGMMA_HALF(kF16, "k16.f32.f16.f16", N, A, B, P, TA, TB)
#define WEFT_WGMMA_BF16(N, A, B, P, TA, TB) \
  WEFT_WGMMA_HALF(kBf16, "k16.f32.bf16.bf16", N, A, B, P, TA, TB)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_F16)
WEFT_WGMMA_EACH_N(WEFT_WGMMA_BF16)
#undef WEFT_WGMMA_F16
#undef WEFT_WGMMA_BF16
#undef WEFT_WGMMA_HALF

#define WEFT_WGMMA_RS_TEXT(N, A0, A1, A2, A3, B, P, TYPES, TAIL)        \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %" #P                               \
  ", 0;\n"                                                              \
  "wgmma.mma_async.sync.aligned.m64n" #N TYPES " {" WEFT_WGMMA_LIST_##N \
      "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", p" TAIL ";\n}"
#define WEFT_WGMMA_RS(TYPE, TYPES, TAIL, SUM, C, N, A0, A1, A2, A3, B, P)                  \
  template <>                                                                              \
  struct WgmmaRsInstruction<WgmmaType::TYPE, N> {                                          \
    WEFT_DEVICE static void Issue(SUM (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,     \
                                  int accumulate) {                                        \
      asm volatile(WEFT_WGMMA_RS_TEXT(N, A0, A1, A2, A3, B, P, TYPES, TAIL)                \
                   : WEFT_WGMMA_SUMS_##N(C)                                                \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate)); \
    }                                                                                      \
  };
#define WEFT_WGMMA_RS_S8(N, A0, A1, A2, A3, B, P, TB) \
  WEFT_WGMMA_RS(kS8, "k32.s32.s8.s8", "", int32_t, "+r", N, A0, A1, A2, A3, B, P)
#define WEFT_WGMMA_RS_S8U8(N, A0, A1, A2, A3, B, P, TB) \
  WEFT_WGMMA_RS(kS8U8, "k32.s32.s8.u8", "", int32_t, "+r", N, A0, A1, A2, A3, B, P)
#define WEFT_WGMMA_RS_TF32(N, A0, A1, A2, A3, B, P, TB) \
  WEFT_WGMMA_RS(kTf32, "k8.f32.tf32.tf32", ", 1, 1", float, "+f", N, A0, A1, A2, A3, B, P)
#define WEFT_WGMMA_RS_HALF(TYPE, TYPES, N, A0, A1, A2, A3, B, P, TB)                      \
  template <>                                                                             \
  struct WgmmaRsInstruction<WgmmaType::TYPE, N> {                                         \
    template <bool kBMnMajor>                                                             \
    WEFT_DEVICE static void Issue(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b,  \
                                  int accumulate) {                                       \
      asm volatile(WEFT_WGMMA_RS_TEXT(N, A0, A1, A2, A3, B, P, TYPES, ", 1, 1, %" #TB)    \
                   : WEFT_WGMMA_SUMS_##N("+f")                                            \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), \
                     "n"(kBMnMajor));                                                     \
    }                                                                                     \
  };
#define WEFT_WGMMA_RS_F16(N, A0, A1, A2, A3, B, P, TB) \
  WEFT_WGMMA_RS_HALF(kF16, "k16.f32.f16.f16", N, A0, A1, A2, A3, B, P, TB)
#define WEFT_WGMMA_RS_BF16(N, A0, A1, A2, A3, B, P, TB) \
  WEFT_WGMMA_RS_HALF(kBf16, "k16.f32.bf16.bf16", N, A0, A1, A2, A3, B, P, TB)
WEFT_WGMMA_EACH_RS_N(WEFT_WGMMA_RS_S8)
WEFT_WGMMA_EACH_RS_N(WEFT_WGMMA_RS_S8U8)
WEFT_WGMMA_EACH_RS_N(WEFT_WGMMA_RS_TF32)
WEFT_WGMMA_EACH_RS_N(WEFT_WGMMA_RS_F16)
WEFT_WGMMA_EACH_RS_N(WEFT_WGMMA_RS_BF16)
#undef WEFT_WGMMA_RS_S8
#undef WEFT_WGMMA_RS_S8U8
#undef WEFT_WGMMA_RS_TF32
#undef WEFT_WGMMA_RS_F16
#undef WEFT_WGMMA_RS_BF16
#undef WEFT_WGMMA_RS_HALF
#undef WEFT_WGMMA_RS
#undef WEFT_WGMMA_RS_TEXT

#undef WEFT_WGMMA_TEXT
#undef WEFT_WGMMA_EACH_N
#undef WEFT_WGMMA_EACH_RS_N

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
