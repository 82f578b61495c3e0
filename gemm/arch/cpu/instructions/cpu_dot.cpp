// Dot products of bytes with the multiply-add of 16-bit pairs that every x86-64 has, and
// with its 256-bit form where there is one; in plain C++ elsewhere.
#include "weft/gemm/arch/cpu/instructions/cpu_dot.hpp"

#include "weft/gemm/arch/cpu/executor/cpu_lane.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::arch::cpu {
namespace {

template <DotSigns kSigns>
struct Signs {
  static constexpr bool kA = kSigns != DotSigns::kOnlyB, kB = kSigns != DotSigns::kOnlyA;
};

template <bool kSigned>
int32_t Byte(uint32_t word, int i) {
  const uint32_t byte = word >> 8 * i;
  return kSigned ? int32_t{static_cast<int8_t>(byte)} : int32_t{static_cast<uint8_t>(byte)};
}

template <DotSigns kSigns>
int32_t Dot(uint32_t a, uint32_t b) {
  int32_t sum = 0;
  for (int k = 0; k < 4; ++k) sum += Byte<Signs<kSigns>::kA>(a, k) * Byte<Signs<kSigns>::kB>(b, k);
  return sum;
}

// Columns first to n, one by one.
template <DotSigns kSigns>
void AddColumns(int32_t* c, const uint32_t* a, const uint32_t* b, int m, int n, int words,
                int first) {
  for (int i = 0; i < m; ++i) {
    for (int j = first; j < n; ++j) {
      auto sum = static_cast<uint32_t>(c[i * n + j]);  // unsigned: overflow wraps
      for (int w = 0; w < words; ++w) {
        sum += static_cast<uint32_t>(Dot<kSigns>(a[w * m + i], b[w * n + j]));
      }
      c[i * n + j] = static_cast<int32_t>(sum);
    }
  }
}

#if defined(__x86_64__)

// The bytes of a word as two pairs of 16-bit integers, each pair in 32 bits: what a multiply-add
// of pairs takes. Columns of b are sorted into first pairs and second pairs.

// Bytes 0 to 7 of x, and 8 to 15, as 16-bit integers. A byte twice, then a shift: sign extension
// without SSE4.1.
template <bool kSigned>
__m128i LowBytes(__m128i x) {
  const __m128i twice = _mm_unpacklo_epi8(x, x);
  return kSigned ? _mm_srai_epi16(twice, 8) : _mm_srli_epi16(twice, 8);
}
template <bool kSigned>
__m128i HighBytes(__m128i x) {
  const __m128i twice = _mm_unpackhi_epi8(x, x);
  return kSigned ? _mm_srai_epi16(twice, 8) : _mm_srli_epi16(twice, 8);
}

// kGroups groups of four columns. c, a and b as in AddDotProducts, from the first column on.
template <int kGroups, DotSigns kSigns>
void AddColumnGroups(int32_t* c, const uint32_t* a, const uint32_t* b, int m, int n, int words) {
  __m128i b01[kMostWords][kGroups];
  __m128i b23[kMostWords][kGroups];
  for (int w = 0; w < words; ++w) {
    for (int g = 0; g < kGroups; ++g) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + w * n + 4 * g));
      const __m128 low = _mm_castsi128_ps(LowBytes<Signs<kSigns>::kB>(x));
      const __m128 high = _mm_castsi128_ps(HighBytes<Signs<kSigns>::kB>(x));
      b01[w][g] = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
      b23[w][g] = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1)));
    }
  }
  for (int i = 0; i < m; ++i) {
    auto* row = reinterpret_cast<__m128i*>(c + i * n);
    __m128i sum[kGroups];
    for (int g = 0; g < kGroups; ++g) sum[g] = _mm_loadu_si128(row + g);
    for (int w = 0; w < words; ++w) {
      const __m128i x = _mm_cvtsi32_si128(static_cast<int>(a[w * m + i]));
      const __m128i pairs = LowBytes<Signs<kSigns>::kA>(x);
      const __m128i a01 = _mm_shuffle_epi32(pairs, _MM_SHUFFLE(0, 0, 0, 0));
      const __m128i a23 = _mm_shuffle_epi32(pairs, _MM_SHUFFLE(1, 1, 1, 1));
      for (int g = 0; g < kGroups; ++g) {
        const __m128i products =
            _mm_add_epi32(_mm_madd_epi16(a01, b01[w][g]), _mm_madd_epi16(a23, b23[w][g]));
        sum[g] = _mm_add_epi32(sum[g], products);
      }
    }
    for (int g = 0; g < kGroups; ++g) _mm_storeu_si128(row + g, sum[g]);
  }
}

template <bool kSigned>
__attribute__((target("avx2"))) __m256i SixteenBytes(__m128i x) {
  return kSigned ? _mm256_cvtepi8_epi16(x) : _mm256_cvtepu8_epi16(x);
}

template <DotSigns kSigns>
__attribute__((target("avx2"))) void AddEightColumnsAvx2(int32_t* c, const uint32_t* a,
                                                         const uint32_t* b, int m, int n,
                                                         int words) {
  constexpr bool kB = Signs<kSigns>::kB;
  __m256i b01[kMostWords];
  __m256i b23[kMostWords];
  for (int w = 0; w < words; ++w) {
    const __m256 low = _mm256_castsi256_ps(
        SixteenBytes<kB>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + w * n))));
    const __m256 high = _mm256_castsi256_ps(
        SixteenBytes<kB>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + w * n + 4))));
    // The shuffle works in 128-bit halves and leaves the columns in the order 0 1 4 5 2 3 6 7.
    const __m256 x01 = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
    const __m256 x23 = _mm256_shuffle_ps(low, high, _MM_SHUFFLE(3, 1, 3, 1));
    constexpr int kInOrder = _MM_SHUFFLE(3, 1, 2, 0);
    b01[w] = _mm256_permute4x64_epi64(_mm256_castps_si256(x01), kInOrder);
    b23[w] = _mm256_permute4x64_epi64(_mm256_castps_si256(x23), kInOrder);
  }
  for (int i = 0; i < m; ++i) {
    auto* row = reinterpret_cast<__m256i*>(c + i * n);
    __m256i sum = _mm256_loadu_si256(row);
    for (int w = 0; w < words; ++w) {
      const __m128i pairs =
          LowBytes<Signs<kSigns>::kA>(_mm_cvtsi32_si128(static_cast<int>(a[w * m + i])));
      const __m256i a01 = _mm256_broadcastd_epi32(pairs);
      const __m256i a23 = _mm256_broadcastd_epi32(_mm_shuffle_epi32(pairs, 1));
      sum = _mm256_add_epi32(
          sum, _mm256_add_epi32(_mm256_madd_epi16(a01, b01[w]), _mm256_madd_epi16(a23, b23[w])));
    }
    _mm256_storeu_si256(row, sum);
  }
}

#endif  // __x86_64__

DotMeans BestMeans() {
  if (IsAvailable(DotMeans::kPairs256)) return DotMeans::kPairs256;
  return IsAvailable(DotMeans::kPairs128) ? DotMeans::kPairs128 : DotMeans::kPlain;
}

const DotMeans kBestMeans = BestMeans();

// With the fused instruction where the processor has it; a call of the library's fma elsewhere. The
// result is the same.
#if defined(__x86_64__)
#define WEFT_FMA_CLONES __attribute__((target_clones("fma", "default")))
#else
#define WEFT_FMA_CLONES
#endif

WEFT_FMA_CLONES void FusedOuter(float* acc, const float* a, const float* b, int m, int n) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      acc[i * n + j] = __builtin_fmaf(a[i], b[j], acc[i * n + j]);
    }
  }
}
WEFT_FMA_CLONES void FusedOuter(double* acc, const double* a, const double* b, int m, int n) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) acc[i * n + j] = __builtin_fma(a[i], b[j], acc[i * n + j]);
  }
}
WEFT_FMA_CLONES void FusedOuter(Complex<float>* acc, const Complex<float>* a,
                                const Complex<float>* b, int m, int n) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) acc[i * n + j] = MulAdd(a[i], b[j], acc[i * n + j]);
  }
}
WEFT_FMA_CLONES void FusedOuter(Complex<double>* acc, const Complex<double>* a,
                                const Complex<double>* b, int m, int n) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) acc[i * n + j] = MulAdd(a[i], b[j], acc[i * n + j]);
  }
}
#undef WEFT_FMA_CLONES

}  // namespace

// The clones of a function with a name of its own would be exported.
void FmaOuter(float* acc, const float* a, const float* b, int m, int n) {
  FusedOuter(acc, a, b, m, n);
}
void FmaOuter(double* acc, const double* a, const double* b, int m, int n) {
  FusedOuter(acc, a, b, m, n);
}
void FmaOuter(Complex<float>* acc, const Complex<float>* a, const Complex<float>* b, int m, int n) {
  FusedOuter(acc, a, b, m, n);
}
void FmaOuter(Complex<double>* acc, const Complex<double>* a, const Complex<double>* b, int m,
              int n) {
  FusedOuter(acc, a, b, m, n);
}

bool IsAvailable(DotMeans means) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return means != DotMeans::kPairs256 || __builtin_cpu_supports("avx2") != 0;
#else
  return means == DotMeans::kPlain;
#endif
}

namespace {

template <DotSigns kSigns>
void AddProducts(DotMeans means, int32_t* c, const uint32_t* a, const uint32_t* b, int m, int n,
                 int words) {
  int j = 0;
#if defined(__x86_64__)
  if (means == DotMeans::kPairs256) {
    for (; j + 8 <= n; j += 8) AddEightColumnsAvx2<kSigns>(c + j, a, b + j, m, n, words);
  }
  if (means != DotMeans::kPlain) {
    for (; j + 8 <= n; j += 8) AddColumnGroups<2, kSigns>(c + j, a, b + j, m, n, words);
    for (; j + 4 <= n; j += 4) AddColumnGroups<1, kSigns>(c + j, a, b + j, m, n, words);
  }
#else
  (void)means;
#endif
  if (j < n) AddColumns<kSigns>(c, a, b, m, n, words, j);
}

}  // namespace

void AddDotProducts(DotMeans means, DotSigns signs, int32_t* c, const uint32_t* a,
                    const uint32_t* b, int m, int n, int words) {
  switch (signs) {
    case DotSigns::kBoth:
      return AddProducts<DotSigns::kBoth>(means, c, a, b, m, n, words);
    case DotSigns::kOnlyA:
      return AddProducts<DotSigns::kOnlyA>(means, c, a, b, m, n, words);
    case DotSigns::kOnlyB:
      return AddProducts<DotSigns::kOnlyB>(means, c, a, b, m, n, words);
  }
}

void AddDotProducts(DotSigns signs, int32_t* c, const uint32_t* a, const uint32_t* b, int m, int n,
                    int words) {
  AddDotProducts(kBestMeans, signs, c, a, b, m, n, words);
}

}  // namespace weft::arch::cpu
