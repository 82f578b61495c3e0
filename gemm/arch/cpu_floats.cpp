#include "weft/gemm/arch/cpu_floats.hpp"

#include <bit>

#include "weft/layouts/float16.hpp"

namespace weft::arch::cpu {
namespace {

constexpr int kMostN = 256;

// E exponent and M mantissa bits after a sign. The largest exponent is for NaN and infinity in
// e5m2; e4m3 has only one NaN, all ones.
template <int E, int M>
float SmallFloat(uint32_t bits) {
  const float sign = (bits >> (E + M) & 1) != 0 ? -1.0f : 1.0f;
  const auto exponent = static_cast<int>(bits >> M & ((1u << E) - 1));
  const uint32_t mantissa = bits & ((1u << M) - 1);
  const float nan = std::bit_cast<float>(0x7FC00000u);
  if (E == 5 && exponent == 31) {
    return mantissa != 0 ? nan : sign * std::bit_cast<float>(0x7F800000u);
  }
  if (E == 4 && exponent == 15 && mantissa == 7) return nan;
  constexpr int kBias = (1 << (E - 1)) - 1;
  const auto power = [](int e) {
    return std::bit_cast<float>(static_cast<uint32_t>(127 + e) << 23);
  };
  const float fraction = static_cast<float>(mantissa) * power(-M);
  return exponent == 0 ? sign * fraction * power(1 - kBias)
                       : sign * (1.0f + fraction) * power(exponent - kBias);
}

template <WgmmaType kType>
float Element(uint32_t bits) {
  switch (kType) {
    case WgmmaType::kS8:
    case WgmmaType::kS8U8:  // the signed ones
      return static_cast<float>(static_cast<int8_t>(bits));
    case WgmmaType::kF16:
      return Half{static_cast<uint16_t>(bits)}.ToFloat();
    case WgmmaType::kBf16:
      return Bfloat16{static_cast<uint16_t>(bits)}.ToFloat();
    case WgmmaType::kTf32:
      return std::bit_cast<float>(bits & ~0x1FFFu);
    case WgmmaType::kE4m3:
      return SmallFloat<4, 3>(bits);
    case WgmmaType::kE5m2:
      return SmallFloat<5, 2>(bits);
  }
  return 0;
}

template <WgmmaType kType, int kPerWord>
void Add(uint32_t* c, const uint32_t* a, const uint32_t* b, int m, int n, int words) {
  constexpr int kBits = 32 / kPerWord;
  for (int k = 0; k < kPerWord * words; ++k) {
    const int word = k / kPerWord, shift = k % kPerWord * kBits;
    float row[kMostN];
    for (int j = 0; j < n; ++j) row[j] = Element<kType>(b[word * n + j] >> shift);
    for (int i = 0; i < m; ++i) {
      const float x = Element<kType>(a[word * m + i] >> shift);
      for (int j = 0; j < n; ++j) {
        uint32_t& sum = c[i * n + j];
        sum = std::bit_cast<uint32_t>(std::bit_cast<float>(sum) + x * row[j]);
      }
    }
  }
}

}  // namespace

float WgmmaElement(WgmmaType type, uint32_t bits) {
  switch (type) {
    case WgmmaType::kS8:
    case WgmmaType::kS8U8:
      return Element<WgmmaType::kS8>(bits);
    case WgmmaType::kF16:
      return Element<WgmmaType::kF16>(bits);
    case WgmmaType::kBf16:
      return Element<WgmmaType::kBf16>(bits);
    case WgmmaType::kTf32:
      return Element<WgmmaType::kTf32>(bits);
    case WgmmaType::kE4m3:
      return Element<WgmmaType::kE4m3>(bits);
    case WgmmaType::kE5m2:
      return Element<WgmmaType::kE5m2>(bits);
  }
  return 0;
}

void AddFloatProducts(WgmmaType type, uint32_t* c, const uint32_t* a, const uint32_t* b, int m,
                      int n, int words) {
  switch (type) {
    case WgmmaType::kS8:
    case WgmmaType::kS8U8:
      return;  // AddDotProducts
    case WgmmaType::kF16:
      return Add<WgmmaType::kF16, 2>(c, a, b, m, n, words);
    case WgmmaType::kBf16:
      return Add<WgmmaType::kBf16, 2>(c, a, b, m, n, words);
    case WgmmaType::kTf32:
      return Add<WgmmaType::kTf32, 1>(c, a, b, m, n, words);
    case WgmmaType::kE4m3:
      return Add<WgmmaType::kE4m3, 4>(c, a, b, m, n, words);
    case WgmmaType::kE5m2:
      return Add<WgmmaType::kE5m2, 4>(c, a, b, m, n, words);
  }
}

}  // namespace weft::arch::cpu
