// Every primitive of arch::Thread against its plain definition; the tensor cores' are in
// fragments_cases.hpp. Compiled by g++ the kernels run on the CPU executor, under every schedule;
// compiled by nvcc on the GPU. The tests are the same.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/gemm/arch/expect_output.hpp"
#include "tests/gemm/arch/fragment_kernels.hpp"
#include "tests/gemm/arch/noise.hpp"

namespace weft::arch::testing {
namespace {

TEST(Index, ThreadAndBlockInAThreeDimensionalGrid) {
  constexpr Dim3 kGrid{3, 2, 4};
  std::vector<uint32_t> expected;
  for (uint32_t z = 0; z < 4; ++z) {
    for (uint32_t y = 0; y < 2; ++y) {
      for (uint32_t x = 0; x < 3; ++x) {
        for (uint32_t tid = 0; tid < 96; ++tid) {
          expected.push_back(1u << 31 | x | y << 4 | z << 8 | tid % 32 << 12 | tid / 32 << 20);
        }
      }
    }
  }
  ExpectOutput<IndexKernel>(kGrid, {0}, expected, [&](const uint32_t*, uint32_t* out) {
    return IndexKernel::Params{out, kGrid.x, kGrid.y};
  });
}

TEST(Barrier, BlockWideAndNamed) {
  const std::vector<uint32_t> in = Noise(1).Words(128);
  std::vector<uint32_t> expected;
  for (int i = 0; i < 128; ++i) expected.push_back(in[127 - i]);
  for (int i = 0; i < 64; ++i) expected.push_back(in[i] * 3);
  ExpectOutput<BarrierKernel>(in, expected);
}

TEST(Exchange, ShufflesBallotsAndHalvesOfAWarp) {
  const std::vector<uint32_t> in = Noise(2).Words(32);
  std::vector<uint32_t> expected(ExchangeKernel::kOutputs * 32);
  uint32_t odd = 0;
  uint32_t upper = 0;
  for (int l = 0; l < 32; ++l) {
    odd |= (in[l] & 1) << l;
    if (l >= 16) upper |= (in[l] >> 1 & 1) << l;
  }
  for (int l = 0; l < 32; ++l) {
    expected[0 * 32 + l] = in[(l * 5 + 3) % 32];
    expected[1 * 32 + l] = in[l ^ 9];
    expected[2 * 32 + l] = 31 - l;
    expected[3 * 32 + l] = static_cast<uint32_t>((uint64_t{in[l ^ 16]} << 32 | (l ^ 16)) >> 16);
    expected[4 * 32 + l] = odd;
    expected[5 * 32 + l] = l < 16 ? in[15 - l] : upper;
    expected[6 * 32 + l] = l < 16 ? in[15 - l] : in[47 - l];
  }
  ExpectOutput<ExchangeKernel>(in, expected);
}

template <int kBytes>
void TestCopies() {
  const std::vector<uint32_t> in = Noise(3).Words(32 * 4);
  std::vector<uint32_t> expected(in.size(), kUntouched);
  for (int l = 0; l < 32; ++l) {
    char bytes[16] = {};
    std::memcpy(bytes, &in[4 * l], CopyKernel<kBytes>::SourceBytes(l));
    std::memcpy(&expected[4 * l], bytes, kBytes);
  }
  ExpectOutput<CopyKernel<kBytes>>(in, expected);
}

TEST(CpAsync, FillsUpWithZeros) {
  TestCopies<4>();
  TestCopies<8>();
  TestCopies<16>();
}

template <int kMatrices>
void TestLdMatrix() {
  using Kernel = LdMatrixKernel<kMatrices>;
  const std::vector<uint32_t> in = Noise(4).Words(32 * 4);
  std::vector<uint32_t> expected(32 * kMatrices);
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < kMatrices; ++i) {
      // Two b16 per register: row lane / 4, columns 2 * (lane % 4) and the next.
      const int row = Kernel::Row(8 * i + l / 4);
      expected[l * kMatrices + i] = in[4 * row + l % 4];
    }
  }
  ExpectOutput<Kernel>(in, expected);
}

TEST(LdMatrix, GivesEachLaneItsPairs) {
  TestLdMatrix<1>();
  TestLdMatrix<2>();
  TestLdMatrix<4>();
}

// A product with a rounding of its own would give zeros.
template <class T>
void TestFma() {
  const std::vector<uint32_t> in = Noise(10).Words(32 * 6);
  std::vector<uint32_t> expected;
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        expected.push_back(in[6 * l + i] % 4 * (in[6 * l + 2 + j] % 4));
      }
    }
  }
  ExpectOutput<FmaKernel<T>>(in, expected);
}

TEST(Fma, RoundsOnce) {
  TestFma<float>();
  TestFma<double>();
}

TEST(SharedStores, ByAddressWithBytesPermuted) {
  const std::vector<uint32_t> in = Noise(11).Words(32 * 8);
  std::vector<uint32_t> expected = in;
  const auto byte = [](uint32_t w, int i) { return w >> 8 * i & 0xff; };
  for (int l = 0; l < 32; ++l) {
    const uint32_t a = in[8 * l + 6], b = in[8 * l + 7];
    expected[8 * l + 6] = byte(a, 1) | byte(b, 1) << 8 | byte(a, 3) << 16 | byte(b, 3) << 24;
    expected[8 * l + 7] = byte(b, 2) | byte(a, 2) << 8 | byte(b, 0) << 16 | byte(a, 0) << 24;
  }
  ExpectOutput<StoreAtKernel>(in, expected);
}

// Rounded half to even and limited, in plain arithmetic; NaN is 0.
uint32_t PlainByte(float v, int low, int high) {
  if (v != v) return 0;
  if (v <= static_cast<float>(low)) return static_cast<uint32_t>(low) & 0xff;
  if (v >= static_cast<float>(high)) return static_cast<uint32_t>(high);
  auto below = static_cast<int32_t>(v);  // towards zero
  if (static_cast<float>(below) > v) --below;
  const float rest = v - static_cast<float>(below);  // exact: v is below 256
  if (rest > 0.5f || (rest == 0.5f && below % 2 != 0)) ++below;
  return static_cast<uint32_t>(below) & 0xff;
}

template <class T>
void TestPack(int low, int high) {
  std::vector<uint32_t> in = Noise(12).Words(4 * 32 * 4);
  for (int i = 0; i < static_cast<int>(in.size()); ++i) in[i] = PackKernel<T>::Input(i, in[i]);
  for (size_t start = 0; start < in.size(); start += 32 * 4) {
    const std::vector<uint32_t> words(in.begin() + start, in.begin() + start + 32 * 4);
    std::vector<uint32_t> expected;
    for (int l = 0; l < 32; ++l) {
      uint32_t word = 0;
      for (int i = 0; i < 4; ++i) {
        float v;
        std::memcpy(&v, &words[4 * l + i], 4);
        word |= PlainByte(v, low, high) << 8 * i;
      }
      expected.push_back(word);
    }
    ExpectOutput<PackKernel<T>>(words, expected);
    // Which ptxas would make one instruction of, with uint8 one that an H200 does not have.
    for (uint32_t& word : expected) {
      for (int i = 0; i < 4; ++i) {
        if (low < 0 && (word >> (8 * i) & 0x80) != 0) word &= ~(0xffu << 8 * i);
      }
    }
    ExpectOutput<PackKernel<T, true>>(words, expected);
  }
}

TEST(PackSaturated, RoundsHalfToEvenWithinTheRange) {
  TestPack<int8_t>(-128, 127);
  TestPack<uint8_t>(0, 255);
}

TEST(GlobalRange, LowersRaisesAndAdds) {
  constexpr Dim3 kGrid{5};
  const std::vector<uint32_t> in = Noise(9).Words(5 * RangeKernel::kThreads);
  float start;
  std::memcpy(&start, &kUntouched, sizeof(start));  // -7.99
  std::vector<float> want = {start, start, start, start};
  for (const uint32_t noise : in) {
    want[1] = std::min(want[1], RangeKernel::Below(noise));
    want[2] = std::max(want[2], RangeKernel::Above(noise));
  }
  want.push_back(start);
  for (const float x : {50.0f, 20.0f, 0.0f, -3.0f, -3.0f, -1e30f, -9.0f, 0.0f, 0.5f, 0.5f, 0.5f}) {
    want.push_back(x);
  }
  want.push_back(1e-40f);
  std::vector<uint32_t> expected(want.size());
  std::memcpy(expected.data(), want.data(), want.size() * sizeof(float));
  expected.push_back(std::accumulate(in.begin(), in.end(), uint32_t{kUntouched}));
  ExpectOutput<RangeKernel>(kGrid, in, expected, [](const uint32_t* words, uint32_t* out) {
    return WordParams{words, out};
  });
}

TEST(GlobalRange, WhoIsCountedLastSeesAllWords) {
  constexpr Dim3 kGrid{7};
  const std::vector<uint32_t> in = Noise(10).Words(7 * LastBlockKernel::kThreads);
  std::vector<uint32_t> expected = in;
  expected.push_back(kUntouched + 7);
  expected.push_back(std::accumulate(in.begin(), in.end(), uint32_t{0}));
  ExpectOutput<LastBlockKernel>(kGrid, in, expected, [](const uint32_t* words, uint32_t* out) {
    return LastBlockKernel::Params{words, out, static_cast<int32_t>(kUntouched)};
  });
}

template <int kM, int kN, bool kUnsignedA = false>
void TestDots() {
  for (const bool extremes : {false, true}) {
    std::vector<uint32_t> in = Noise(7).Words(32 * (kM + kN));
    if (extremes) in.assign(in.size(), 0x80808080u);
    std::vector<uint32_t> expected;
    for (int l = 0; l < 32; ++l) {
      const uint32_t* a = &in[(kM + kN) * l];
      const uint32_t* b = a + kM;
      const auto dot = [&](int i, int j) {
        int32_t sum = 0;
        for (int k = 0; k < 4; ++k) {
          const int32_t x = kUnsignedA ? a[i] >> 8 * k & 0xff : SignedByte(a[i], k);
          sum += x * SignedByte(b[j], k);
        }
        return sum;
      };
      for (int i = 0; i < kM; ++i) {
        for (int j = 0; j < kN; ++j) {
          const int32_t again = i == 0 && j == 0 ? dot(kM - 1, kN - 1) : 0;
          expected.push_back(static_cast<uint32_t>(i * kN + j + dot(i, j) + again));
        }
      }
    }
    ExpectOutput<DotKernel<kM, kN, kUnsignedA>>(in, expected);
  }
}

TEST(Dp4a, OuterProductsOfAnyShape) {
  TestDots<1, 1>();
  TestDots<2, 3>();
  TestDots<3, 4>();
  TestDots<8, 8>();
  TestDots<4, 15>();
  TestDots<17, 16>();
  TestDots<1, 1, true>();
  TestDots<8, 8, true>();
}

template <class T>
void TestMemory() {
  using Kernel = MemoryKernel<T>;
  constexpr int kWords = Kernel::kThreads * sizeof(T) / 4;
  const std::vector<uint32_t> in = Noise(8).Words(kWords);
  std::vector<uint32_t> expected(2 * kWords);
  std::memcpy(&expected[kWords], in.data(), kWords * 4);
  for (size_t i = 0; i < Kernel::kThreads; i += 2) {  // odd elements stay zero
    std::memcpy(reinterpret_cast<char*>(expected.data()) + i * sizeof(T),
                reinterpret_cast<const char*>(in.data()) + i * sizeof(T), sizeof(T));
  }
  ExpectOutput<Kernel>({1, 1, 1}, in, expected, [](const uint32_t* src, uint32_t* dst) {
    return typename Kernel::Params{reinterpret_cast<const T*>(src), reinterpret_cast<T*>(dst)};
  });
}

TEST(Memory, LoadsAndStoresOfEverySize) {
  TestMemory<uint8_t>();
  TestMemory<uint16_t>();
  TestMemory<float>();
  TestMemory<Word2>();
  TestMemory<Word4>();
}

}  // namespace
}  // namespace weft::arch::testing
