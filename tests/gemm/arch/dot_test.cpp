// The executor's dot products: every means this machine has gives what the definition says.
#include "weft/gemm/arch/cpu/instructions/cpu_dot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/gemm/arch/harness.hpp"
#include "weft/gemm/arch/arch.hpp"

namespace weft::arch::testing {
namespace {

using cpu::DotMeans;
using cpu::DotSigns;

int64_t Byte(bool is_signed, uint32_t word, int i) {
  const uint32_t byte = word >> 8 * i & 0xff;
  return is_signed && byte >= 128 ? int64_t{byte} - 256 : int64_t{byte};
}

std::vector<int32_t> Plain(DotSigns signs, std::vector<int32_t> c, const std::vector<uint32_t>& a,
                           const std::vector<uint32_t>& b, int m, int n, int words) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      int64_t sum = c[i * n + j];
      for (int w = 0; w < words; ++w) {
        for (int k = 0; k < 4; ++k) {
          sum += Byte(signs != DotSigns::kOnlyB, a[w * m + i], k) *
                 Byte(signs != DotSigns::kOnlyA, b[w * n + j], k);
        }
      }
      c[i * n + j] = static_cast<int32_t>(static_cast<uint32_t>(sum));  // wraps around
    }
  }
  return c;
}

TEST(DotProducts, EveryMeansAgreesWithTheDefinition) {
  int means_tested = 0;
  for (const DotMeans means : {DotMeans::kPlain, DotMeans::kPairs128, DotMeans::kPairs256}) {
    if (!cpu::IsAvailable(means)) continue;
    ++means_tested;
    for (const int m : {1, 2, 3, 8, 16, 17}) {
      for (const int n : {1, 3, 4, 5, 8, 12, 15, 16, 23}) {
        for (const int words : {1, 2, 4, 8}) {
          for (const bool extremes : {false, true}) {
            Noise noise(m * 10000 + n * 100 + words);
            std::vector<uint32_t> a = noise.Words(words * m);
            std::vector<uint32_t> b = noise.Words(words * n);
            std::vector<int32_t> c(m * n);
            for (int32_t& x : c) x = static_cast<int32_t>(noise.Next());
            if (extremes) {
              a.assign(a.size(), 0x80808080u);
              b.assign(b.size(), 0x80808080u);
              c.assign(c.size(), INT32_MAX);
            }
            for (const DotSigns signs : {DotSigns::kBoth, DotSigns::kOnlyA, DotSigns::kOnlyB}) {
              std::vector<int32_t> sums = c;
              cpu::AddDotProducts(means, signs, sums.data(), a.data(), b.data(), m, n, words);
              ASSERT_EQ(sums, Plain(signs, c, a, b, m, n, words))
                  << "means " << static_cast<int>(means) << ", signs " << static_cast<int>(signs)
                  << ", " << m << " x " << n << " x " << words << " words";
            }
          }
        }
      }
    }
  }
  EXPECT_GE(means_tested, 1);
}

TEST(MaxPairs, TakesTheGreaterOfEachHalf) {
  constexpr uint32_t kNumbers[] = {0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff};
  for (const uint32_t a : kNumbers) {
    for (const uint32_t b : kNumbers) {
      for (const uint32_t c : kNumbers) {
        EXPECT_EQ(Thread::MaxPairs(a << 16 | b, c << 16 | c),
                  std::max(a, c) << 16 | std::max(b, c));
      }
    }
  }
}

}  // namespace
}  // namespace weft::arch::testing
