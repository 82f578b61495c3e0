// Products of the float types of wgmma. Private to the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>

#include "weft/gemm/arch/isa/wgmma.hpp"

namespace weft::arch::cpu {

// The value of the element in the low bits of `bits`: 8, 16 or 32 of them by type; tf32 without
// its low 13 bits.
float WgmmaElement(WgmmaType type, uint32_t bits);

// c[i * n + j] += sum over k of a[k of i] * b[k of j], floats by their bits; k ascends, each
// product and each sum is rounded to float. The hardware's order is its own. Words as for
// AddDotProducts.
void AddFloatProducts(WgmmaType type, uint32_t* c, const uint32_t* a, const uint32_t* b, int m,
                      int n, int words);

}  // namespace weft::arch::cpu
