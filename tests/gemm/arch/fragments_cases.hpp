// The tensor-core instructions of arch::Thread against plain products, and the tables of their
// fragments against the PTX manual. On both back ends, as primitives_cases.hpp.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/gemm/arch/expect_output.hpp"
#include "tests/gemm/arch/fragment_kernels.hpp"
#include "tests/gemm/arch/noise.hpp"
#include "weft/gemm/arch/isa/fragments.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::arch::testing {
namespace {

// Where the PTX manual puts elements, byte by byte: the tables must say the same.
TEST(Fragments, AgreeWithTheManual) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 16; ++i) {  // a[i] of m16n8k32
      const int row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
      const int col = in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0);
      const FragmentPlace place = kMmaM16N8K32S8A.place[lane][i / 4];
      EXPECT_EQ(place.row, row);
      EXPECT_EQ(place.word * 4 + i % 4, col);
    }
    for (int i = 0; i < 8; ++i) {  // b[i]: row is k, col is n
      const int row = in_group * 4 + (i & 3) + (i >= 4 ? 16 : 0);
      const FragmentPlace place = kMmaM16N8K32S8B.place[lane][i / 4];
      EXPECT_EQ(place.row, group);
      EXPECT_EQ(place.word * 4 + i % 4, row);
    }
    for (int i = 0; i < 4; ++i) {  // c[i]
      const FragmentPlace place = kMmaM16N8K32S8C.place[lane][i];
      EXPECT_EQ(place.row, i < 2 ? group : group + 8);
      EXPECT_EQ(place.word, in_group * 2 + (i & 1));
    }
    for (int i = 0; i < 4; ++i) {  // a[i] and b[i] of m8n8k16
      EXPECT_EQ(kMmaM8N8K16S8A.place[lane][0].row, group);
      EXPECT_EQ(kMmaM8N8K16S8A.place[lane][0].word * 4 + i, in_group * 4 + i);
      EXPECT_EQ(kMmaM8N8K16S8B.place[lane][0].row, group);
      EXPECT_EQ(kMmaM8N8K16S8B.place[lane][0].word * 4 + i, in_group * 4 + i);
    }
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(kMmaM8N8K16S8C.place[lane][i].row, group);
      EXPECT_EQ(kMmaM8N8K16S8C.place[lane][i].word, in_group * 2 + i);
    }
  }
}

// d = a * b + c, element by element, with each lane's registers laid out as `in` of the kernels.
// kBits: of an element of a and b.
template <bool kUnsignedA, const auto& kA, const auto& kB, const auto& kC, int kBits = 8>
std::vector<uint32_t> PlainProduct(const std::vector<uint32_t>& in) {
  constexpr int kPerLane = kA.kRegisters + kB.kRegisters + kC.kRegisters;
  constexpr int kOfWord = 32 / kBits, kDepth = kA.kWords * kOfWord;
  const auto value = [](uint32_t word, int i, bool is_unsigned) {
    const int low = static_cast<int>(word >> kBits * i & ((1u << kBits) - 1));
    return is_unsigned || low < 1 << (kBits - 1) ? low : low - (1 << kBits);
  };
  int32_t a[kA.kRows][kDepth];
  int32_t b[kB.kRows][kDepth];
  for (int lane = 0; lane < 32; ++lane) {
    const uint32_t* registers = &in[kPerLane * lane];
    for (int r = 0; r < kA.kRegisters; ++r) {
      const FragmentPlace place = kA.place[lane][r];
      for (int k = 0; k < kOfWord; ++k) {
        a[place.row][place.word * kOfWord + k] = value(registers[r], k, kUnsignedA);
      }
    }
    for (int r = 0; r < kB.kRegisters; ++r) {
      const FragmentPlace place = kB.place[lane][r];
      for (int k = 0; k < kOfWord; ++k) {
        b[place.row][place.word * kOfWord + k] = value(registers[kA.kRegisters + r], k, false);
      }
    }
  }
  std::vector<uint32_t> out;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < kC.kRegisters; ++r) {
      const FragmentPlace place = kC.place[lane][r];
      uint32_t sum = in[kPerLane * lane + kA.kRegisters + kB.kRegisters + r];  // may wrap around
      for (int k = 0; k < kDepth; ++k) {
        sum += static_cast<uint32_t>(a[place.row][k] * b[place.word][k]);
      }
      out.push_back(sum);
    }
  }
  return out;
}

template <bool kUnsignedA>
void TestM16N8K32() {
  std::vector<uint32_t> in = Noise(5).Words(32 * 10);
  const auto product = &PlainProduct<kUnsignedA, kMmaM16N8K32S8A, kMmaM16N8K32S8B, kMmaM16N8K32S8C>;
  ExpectOutput<MmaM16N8Kernel<32, kUnsignedA>>(in, product(in));
  for (int i = 0; i < 32 * 10; ++i) in[i] = i % 10 < 6 ? 0x80808080u : 0x7FFFFFFFu;  // extremes
  ExpectOutput<MmaM16N8Kernel<32, kUnsignedA>>(in, product(in));
}

TEST(Mma, M16N8K32) {
  TestM16N8K32<false>();
  TestM16N8K32<true>();
}

// The places of bytes, each of them two values.
template <bool kUnsignedA>
void TestM16N8K64() {
  std::vector<uint32_t> in = Noise(15).Words(32 * 10);
  const auto product =
      &PlainProduct<kUnsignedA, kMmaM16N8K32S8A, kMmaM16N8K32S8B, kMmaM16N8K32S8C, 4>;
  ExpectOutput<MmaM16N8Kernel<64, kUnsignedA>>(in, product(in));
  for (int i = 0; i < 32 * 10; ++i) in[i] = i % 10 < 6 ? 0x88888888u : 0x7FFFFFFFu;  // extremes
  ExpectOutput<MmaM16N8Kernel<64, kUnsignedA>>(in, product(in));
}

TEST(Mma, M16N8K64) {
  TestM16N8K64<false>();
  TestM16N8K64<true>();
}

template <bool kUnsignedA>
void TestM8N8K32() {
  std::vector<uint32_t> in = Noise(16).Words(32 * 4);
  const auto product = &PlainProduct<kUnsignedA, kMmaM8N8K16S8A, kMmaM8N8K16S8B, kMmaM8N8K16S8C, 4>;
  ExpectOutput<MmaM8N8Kernel<32, kUnsignedA>>(in, product(in));
  for (int i = 0; i < 32 * 4; ++i) in[i] = i % 4 < 2 ? 0x88888888u : 0x7FFFFFFFu;
  ExpectOutput<MmaM8N8Kernel<32, kUnsignedA>>(in, product(in));
}

TEST(Mma, M8N8K32) {
  TestM8N8K32<false>();
  TestM8N8K32<true>();
}

template <bool kUnsignedA>
void TestM8N8K16() {
  std::vector<uint32_t> in = Noise(6).Words(32 * 4);
  const auto product = &PlainProduct<kUnsignedA, kMmaM8N8K16S8A, kMmaM8N8K16S8B, kMmaM8N8K16S8C>;
  ExpectOutput<MmaM8N8Kernel<16, kUnsignedA>>(in, product(in));
  for (int i = 0; i < 32 * 4; ++i) in[i] = i % 4 < 2 ? 0x80808080u : 0x7FFFFFFFu;
  ExpectOutput<MmaM8N8Kernel<16, kUnsignedA>>(in, product(in));
}

TEST(Mma, M8N8K16) {
  TestM8N8K16<false>();
  TestM8N8K16<true>();
}

// Integers that the format holds, and sums that float holds (with 8-bit floats, 14 bits): exact in any order.
// Words of k are kWords.
template <class Element, int kWords = 8>
void TestFloatMma() {
  using Kernel = MmaFloatsKernel<Element, kWords>;
  constexpr int kParts = 4 / sizeof(Element), kBits = 32 / kParts, kDepth = kWords * kParts;
  constexpr bool kFloat8 = sizeof(Element) == 1;
  const auto place_of_a = [](int lane, int r) {
    return kWords == 4 ? kMmaM16N8K8F16A.place[lane][r % 2] : kMmaM16N8K16A.place[lane][r];
  };
  const auto place_of_b = [](int lane, int r) {
    return kWords == 4 ? kMmaM16N8K8F16B.place[lane][0] : kMmaM16N8K16B.place[lane][r];
  };
  const std::vector<uint32_t> noise = Noise(9).Words(32 * Kernel::kIn);
  std::vector<uint32_t> in(noise.size());
  int a[16][kDepth], b[8][kDepth];
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < Kernel::kIn; ++r) {
      const uint32_t random = noise[Kernel::kIn * lane + r];
      uint32_t& word = in[Kernel::kIn * lane + r];
      if (r >= Kernel::kA + Kernel::kB) {
        word = static_cast<uint32_t>(static_cast<int32_t>(random) >> (kFloat8 ? 20 : 16));
        continue;
      }
      for (int part = 0; part < kParts; ++part) {
        const int value = kFloat8 ? SignedByte(random, part) % 8 : SignedByte(random, part);
        const Element element = Element::FromFloat(static_cast<float>(value));
        if constexpr (kParts == 1) {
          std::memcpy(&word, &element, sizeof(word));
        } else {
          word |= uint32_t{element.bits} << kBits * part;
        }
        const bool of_a = r < Kernel::kA;
        const FragmentPlace place = of_a ? place_of_a(lane, r) : place_of_b(lane, r - Kernel::kA);
        (of_a ? a[place.row] : b[place.row])[place.word * kParts + part] = value;
      }
    }
  }
  std::vector<uint32_t> expected;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const FragmentPlace place = kMmaM16N8K16C.place[lane][r];
      auto sum = static_cast<int32_t>(in[Kernel::kIn * lane + Kernel::kA + Kernel::kB + r]);
      for (int k = 0; k < kDepth; ++k) sum += a[place.row][k] * b[place.word][k];
      expected.push_back(static_cast<uint32_t>(sum));
    }
  }
  ExpectOutput<Kernel>(in, expected);
}

TEST(Mma, M16N8K16) {
  TestFloatMma<Half>();
  TestFloatMma<Bfloat16>();
}
TEST(Mma, M16N8K8) {
  TestFloatMma<Half, 4>();
  TestFloatMma<Tf32>();
}
TEST(Mma, M16N8K32OfFloats) {
  TestFloatMma<Float8E4m3>();
  TestFloatMma<Float8E5m2>();
}

// Integers of which halves hold every sum. A word of C: two adjacent columns, the PTX manual's c[2 r] and
// c[2 r + 1].
TEST(Mma, M16N8K16HalfSums) {
  const std::vector<uint32_t> noise = Noise(17).Words(32 * 8);
  std::vector<uint32_t> in(noise.size());
  int a[16][16], b[8][16], c[32][4];
  const auto bits = [](int value) {
    return uint32_t{Half::FromFloat(static_cast<float>(value)).bits};
  };
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 8; ++r) {
      for (int half = 0; half < 2; ++half) {
        const int random = static_cast<int>(noise[8 * lane + r] >> 16 * half & 0xFFFF);
        const int value = r < 6 ? random % 15 - 7 : random % 2001 - 1000;
        in[8 * lane + r] |= bits(value) << 16 * half;
        if (r >= 6) {
          c[lane][2 * (r - 6) + half] = value;
          continue;
        }
        const FragmentPlace place =
            r < 4 ? kMmaM16N8K16A.place[lane][r] : kMmaM16N8K16B.place[lane][r - 4];
        (r < 4 ? a : b)[place.row][place.word * 2 + half] = value;
      }
    }
  }
  std::vector<uint32_t> expected(32 * 2);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const FragmentPlace place = kMmaM16N8K16C.place[lane][i];
      EXPECT_EQ(kMmaM16N8K16HalvesOfC.place[lane][i / 2].row, place.row);
      EXPECT_EQ(kMmaM16N8K16HalvesOfC.place[lane][i / 2].word * 2 + i % 2, place.word);
      int sum = c[lane][i];
      for (int k = 0; k < 16; ++k) sum += a[place.row][k] * b[place.word][k];
      expected[2 * lane + i / 2] |= bits(sum) << 16 * (i % 2);
    }
  }
  ExpectOutput<MmaM16N8K16HalfSumsKernel>(in, expected);
}

// Integers, exact in any order. The places are those of the PTX manual: a[r] is of row lane / 4, or 8
// further where r is odd, and of k lane % 4, or 4 further from r = 2 on; b[r] of k lane % 4 + 4 r.
TEST(Mma, M16N8K8F64) {
  const std::vector<uint32_t> noise = Noise(23).Words(32 * 10);
  std::vector<double> in(noise.size());
  double a[16][8], b[8][8];
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 10; ++r) {
      const double value = static_cast<int32_t>(noise[10 * lane + r]) >> 8;
      in[10 * lane + r] = value;
      if (r < 4) {
        a[lane / 4 + r % 2 * 8][lane % 4 + r / 2 * 4] = value;
      } else if (r < 6) {
        b[lane % 4 + (r - 4) * 4][lane / 4] = value;
      }
    }
  }
  std::vector<double> expected;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const int row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
      const FragmentPlace place = kMmaM16N8K8F64C.place[lane][r];
      EXPECT_EQ(place.row, row);
      EXPECT_EQ(place.word, column);
      double sum = in[10 * lane + 6 + r];
      for (int k = 0; k < 8; ++k) sum += a[row][k] * b[k][column];
      expected.push_back(sum);
    }
  }
  const auto words = [](const std::vector<double>& doubles) {
    std::vector<uint32_t> result(2 * doubles.size());
    std::memcpy(result.data(), doubles.data(), 4 * result.size());
    return result;
  };
  ExpectOutput<MmaM16N8K8F64Kernel>(words(in), words(expected));
}

// Where the PTX manual puts the 16-bit elements.
TEST(Fragments, SixteenBitAgreesWithTheManual) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 8; ++i) {  // a[i]
      const int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      const int col = in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(kMmaM16N8K16A.place[lane][i / 2].row, row);
      EXPECT_EQ(kMmaM16N8K16A.place[lane][i / 2].word * 2 + i % 2, col);
    }
    for (int i = 0; i < 4; ++i) {  // b[i], c[i]
      EXPECT_EQ(kMmaM16N8K16B.place[lane][i / 2].row, group);
      EXPECT_EQ(kMmaM16N8K16B.place[lane][i / 2].word * 2 + i % 2,
                in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0));
      EXPECT_EQ(kMmaM16N8K16C.place[lane][i].row, i < 2 ? group : group + 8);
      EXPECT_EQ(kMmaM16N8K16C.place[lane][i].word, in_group * 2 + (i & 1));
    }
  }
}

}  // namespace
}  // namespace weft::arch::testing
