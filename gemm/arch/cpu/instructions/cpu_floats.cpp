#include "weft/gemm/arch/cpu/instructions/cpu_floats.hpp"

#include <bit>

#include "weft/layouts/element/float8.hpp"

namespace weft::arch::cpu {
namespace {

constexpr int kMostN = 256;

template <WgmmaType kType>
float Element(uint32_t bits) {
  switch (kType) {
    case WgmmaType::kS8:
    case WgmmaType::kS8U8:  // the signed ones
      return static_cast<float>(static_cast<int8_t>(bits));
    case WgmmaType::kF16:
      return Half::FromBits(static_cast<uint16_t>(bits)).ToFloat();
    case WgmmaType::kBf16:
      return Bfloat16::FromBits(static_cast<uint16_t>(bits)).ToFloat();
    case WgmmaType::kTf32:
      return std::bit_cast<float>(bits & ~0x1FFFu);
    case WgmmaType::kE4m3:
      return Float8E4m3::FromBits(static_cast<uint8_t>(bits)).ToFloat();
    case WgmmaType::kE5m2:
      return Float8E5m2::FromBits(static_cast<uint8_t>(bits)).ToFloat();
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
