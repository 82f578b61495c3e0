// Products of 4-bit values by products of bytes, where there are no instructions for them: of the
// lower halves of the bytes, then of the upper ones.
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/layouts/packed_int4.hpp"

namespace weft::arch {
inline namespace WEFT_BACKEND {

// d = a b + c. mma(d, a, b, c) is that of signed bytes, or of unsigned ones by signed ones. Which
// halves meet in which order does not matter to the sum, as long as both operands agree.
template <bool kUnsignedA, int kA, int kB, int kC, class Mma>
WEFT_DEVICE void MmaOfHalves(const Mma& mma, int32_t (&d)[kC], const uint32_t (&a)[kA],
                             const uint32_t (&b)[kB], const int32_t (&c)[kC]) {
  uint32_t lower_a[kA], upper_a[kA], lower_b[kB], upper_b[kB];
  WEFT_UNROLL
  for (int i = 0; i < kA; ++i) {
    lower_a[i] = kUnsignedA ? a[i] & 0x0f0f0f0fu : LowerInt4(a[i]);
    upper_a[i] = kUnsignedA ? a[i] >> 4 & 0x0f0f0f0fu : UpperInt4(a[i]);
  }
  WEFT_UNROLL
  for (int i = 0; i < kB; ++i) lower_b[i] = LowerInt4(b[i]), upper_b[i] = UpperInt4(b[i]);
  int32_t sum[kC];
  mma(sum, lower_a, lower_b, c);
  mma(d, upper_a, upper_b, sum);
}

}  // namespace WEFT_BACKEND
}  // namespace weft::arch
