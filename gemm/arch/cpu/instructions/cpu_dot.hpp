// Dot products of bytes, the hot loop of every CPU run. Private to the runtime (cpu_*.cpp).
#pragma once

#include <cstdint>

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
